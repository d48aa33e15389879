import { incus } from '../../../src/features/servers/clouds/incus/incus'
import type { IncusSettings } from '../../../src/features/servers/clouds/incus/settings'
import { createClientCertificate } from '../../../src/features/servers/clouds/incus/client-certificate'
import { pluginContext } from '../plugin-context'
import type { CloudUnderTest } from './cloud-contract'
import type { IncusServer } from './incus-server'

/** A real installation, joined with a trust token. */
export async function incusUnderTest(server: IncusServer): Promise<CloudUnderTest> {
  const around = pluginContext()
  const token = await server.token()
  const settings: IncusSettings = { trust_token: token }
  incus.validate!(settings)
  const created = (await incus.join!(settings, around)) as IncusSettings
  // As after a crash: the certificate is stored, and the token may have been used.
  const first = await incus.join!({ ...settings, ...created }, around)
  const again = await incus.join!({ ...settings, ...created }, around)
  if (first?.trust_token !== null || again?.trust_token !== null) throw new Error('The trust token was not removed.')
  const stored: IncusSettings = created
  incus.validate!(stored)
  const other = await createClientCertificate('other', Date.now())
  const nameOf = async (ref: string) => {
    const instances: { name: string; config: Record<string, string> }[] = await server.call('GET', '/1.0/instances?recursion=1')
    return instances.find(one => one.config['volatile.uuid'] === ref)!.name
  }
  const refOf = async (name: string): Promise<string> =>
    (await server.call('GET', `/1.0/instances/${name}`)).config['volatile.uuid']
  const size = { cores: 1, memoryBytes: 128 * 2 ** 20, diskBytes: 2 ** 30 }
  return {
    kind: incus,
    cloud: incus.open(stored, around),
    reopen: () => incus.open(stored, around),
    unauthorized: incus.open({ ...stored, client_certificate: other.certificate, client_key: other.key }, around),
    unreachable: incus.open({ ...stored, url: 'https://127.0.0.1:9' }, around),
    secrets: [token, stored.client_key!],
    offer: {
      location: null,
      size,
      image: 'one',
      sshKeys: [],
      otherSize: { ...size, cores: 2, memoryBytes: 256 * 2 ** 20 },
      otherImage: 'two',
    },
    lacks: server.flavor === 'lxd' ? ['rebuild'] : [],
    names: {
      refused: ['', '-web', 'web-', 'web_1', 'web.1', 'web 1', 'wéb', '1web', '1', 'w'.repeat(64)],
      accepted: ['w', 'W-1--2', 'w'.repeat(63)],
    },
    pause: () => Bun.sleep(20),
    outside: {
      async create(name) {
        const source = { type: 'image', alias: 'one' }
        await server.call('POST', '/1.0/instances', { name, source, type: 'container' })
        return await refOf(name)
      },
      async rename(ref, name) {
        await server.call('POST', `/1.0/instances/${await nameOf(ref)}`, { name })
        return ref
      },
      remove: async ref => await server.call('DELETE', `/1.0/instances/${await nameOf(ref)}`),
    },
    stop() {},
  }
}
