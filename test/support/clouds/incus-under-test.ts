import type { Cloud, ServerAddress } from '../../../src/features/servers/clouds/cloud'
import { createClientCertificate } from '../../../src/features/servers/clouds/incus/client-certificate'
import { incus } from '../../../src/features/servers/clouds/incus/incus'
import type { IncusSettings } from '../../../src/features/servers/clouds/incus/settings'
import { pluginContext } from '../plugin-context'
import type { CloudUnderTest } from './cloud-contract'
import type { IncusServer } from './incus-server'

const around = pluginContext()

/** Size of the smallest server. */
export const size = { cores: 1, memoryBytes: 128 * 2 ** 20, diskBytes: 2 ** 30 }

/** Exchanges a trust token step by step, as an account does. @returns the settings that are stored */
export async function joined(token: string, more: IncusSettings = {}, context = around): Promise<IncusSettings> {
  let settings: IncusSettings = { ...more, trust_token: token }
  for (let steps = 0; settings.trust_token !== undefined && steps < 3; steps++) {
    incus.validate!(settings)
    const replaced = Object.entries({ ...settings, ...(await incus.join!(settings, context)) })
    settings = Object.fromEntries(replaced.filter(([, value]) => value !== null))
  }
  incus.validate!(settings)
  return settings
}

/** Waits for the addresses of a server. Its guest has booted as soon as it asks for one. */
export async function addressesOf(cloud: Cloud, ref: string): Promise<ServerAddress[]> {
  for (let attempt = 0; attempt < 400; attempt++) {
    const server = await cloud.get(ref)
    if (server && server.addresses.length > 0) return server.addresses
    await Bun.sleep(50)
  }
  throw new Error('The server has no address.')
}

/** A real installation. @param settings joined before */
export async function incusUnderTest(server: IncusServer, settings: IncusSettings): Promise<CloudUnderTest> {
  const cloud = incus.open(settings, around)
  const other = await createClientCertificate('other', Date.now())
  const nameOf = async (ref: string) => {
    const instances: { name: string; config: Record<string, string> }[] = await server.call('GET', '/1.0/instances?recursion=1')
    return instances.find(one => one.config['volatile.uuid'] === ref)!.name
  }
  const refOf = async (name: string): Promise<string> =>
    (await server.call('GET', `/1.0/instances/${name}`)).config['volatile.uuid']
  return {
    kind: incus,
    cloud,
    reopen: () => incus.open(settings, around),
    unauthorized: incus.open({ ...settings, client_certificate: other.certificate, client_key: other.key }, around),
    unreachable: incus.open({ ...settings, url: 'https://127.0.0.1:9' }, around),
    secrets: [settings.client_key!],
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
    booted: ref => addressesOf(cloud, ref),
    outside: {
      async create(name) {
        await server.call('POST', '/1.0/instances', { name, source: { type: 'image', alias: 'one' }, type: 'container' })
        return await refOf(name)
      },
      async rename(ref, name) {
        await server.call('POST', `/1.0/instances/${await nameOf(ref)}`, { name })
        return ref
      },
      remove: async ref => await server.call('DELETE', `/1.0/instances/${await nameOf(ref)}`),
    },
    firewalls: {
      async empty(id) {
        const acls: { name: string; config: Record<string, string> }[] = await server.call('GET', '/1.0/network-acls?recursion=1')
        const { name, config } = acls.find(one => one.config['user.bailiwick.firewall'] === id)!
        await server.call('PUT', `/1.0/network-acls/${name}`, { description: '', config, ingress: [], egress: [] })
      },
    },
    stop() {},
  }
}
