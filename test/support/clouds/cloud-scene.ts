import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { World } from '../world'
import { sshKeys } from '../ssh-keys'
import { closeLater } from '../world'
import { HetznerCloudDouble } from './hetzner-cloud'
import { ProxmoxCloud } from './proxmox-cloud'
import { template } from './proxmox-under-test'

const publicKey = sshKeys.ed25519.text

/** An account at a double of Hetzner Cloud on the clock of the world, which was checked and read. */
export async function cloudScene(here: World, more: object = {}) {
  const double = new HetznerCloudDouble(here.clock)
  await double.start()
  closeLater(async () => double.stop())
  const input = { kind: 'hetzner', name: 'Hetzner', settings: { api_token: double.token, base_url: double.url }, ...more }
  const account = (await ok(here.acme.call('POST', '/v1/cloud-accounts', input))).body
  await here.settle()
  let requests = 0
  const keyed = () => ({ 'Idempotency-Key': `key-${++requests}-${account.id}` })
  const order = (name: string, fields: object = {}) => ({
    name,
    account_id: account.id,
    location: 'fsn1',
    size: 'cx22',
    image: 'debian-12',
    ssh_keys: [publicKey],
    max_monthly_price: '20',
    currency: 'EUR',
    monitor: false,
    ...fields,
  })
  return {
    double,
    account,
    order,
    /** Creates a server without waiting for the cloud. */
    create: (name: string, fields: object = {}, query = '') =>
      here.acme.call('POST', `/v1/servers${query}`, order(name, fields), keyed()),
    act: (id: string, action: string, params: object = {}) =>
      here.acme.call('POST', `/v1/servers/${id}/actions`, { action, params }),
    get: async (id: string) => (await here.acme.call('GET', `/v1/servers/${id}`)).body,
    named: async (name: string) => (await here.acme.call('GET', `/v1/servers?q=${name}`)).body.data[0],
    action: async (id: string) => (await here.acme.call('GET', `/v1/actions/${id}`)).body,
    refresh: async () => (await here.acme.call('GET', `/v1/cloud-accounts/${account.id}`)).body,
    /** Lets time pass until the action has finished. */
    async finish(id: string) {
      for (let seconds = 0; seconds < 7200; seconds += 5) {
        const action = (await here.acme.call('GET', `/v1/actions/${id}`)).body
        if (action.finished_at !== null) return action
        await here.advance(5000)
      }
      throw new Error(`the action ${id} does not finish`)
    },
  }
}

/** An account at a double of Proxmox VE. */
export async function proxmoxScene(here: World): Promise<{ double: ProxmoxCloud; accountId: string }> {
  const fixture = (name: string) => readFileSync(`test/fixtures/tls/${name}`, 'utf8')
  const cert = fixture('loopback.pem')
  const double = await new ProxmoxCloud({ cert, key: fixture('loopback.key') }).start()
  closeLater(async () => double.stop())
  template(double, 9000, 'debian-12')
  const settings = {
    ...{ url: double.address, token_id: double.tokenId, token_secret: double.secret },
    fingerprint: new X509Certificate(cert).fingerprint256,
  }
  const { body } = await ok(here.acme.call('POST', '/v1/cloud-accounts', { kind: 'proxmox', name: 'Rack 2', settings }))
  await here.settle()
  return { double, accountId: body.id }
}

async function ok<R extends { status: number; text: string }>(response: Promise<R>): Promise<R> {
  const received = await response
  if (received.status >= 300) throw new Error(received.text)
  return received
}
