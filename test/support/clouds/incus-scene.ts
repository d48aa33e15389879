import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { closeLater, type World } from '../world'
import { IncusDouble } from './incus-double'

const fixture = (name: string) => readFileSync(`test/fixtures/tls/${name}`, 'utf8')

/** An account at a double of Incus, with a running instance `web` that was found there. */
export async function incusScene(here: World, prepare: (double: IncusDouble) => unknown = () => {}) {
  const cert = fixture('loopback.pem')
  const double = new IncusDouble({ cert, key: fixture('loopback.key') })
  await double.start()
  closeLater(async () => double.stop())
  const instance = double.create('web')
  instance.status = 'Running'
  prepare(double)
  let keys = 0
  const call = (method: string, path: string, body?: object) =>
    here.acme.call(method, `/v1${path}`, body, method === 'POST' ? { 'Idempotency-Key': `incus-${++keys}` } : {})
  const created = await call('POST', '/cloud-accounts', {
    ...{ kind: 'incus', name: 'Rack', import: { mode: 'all', label_selector: null } },
    settings: {
      ...{ url: double.base, fingerprint: new X509Certificate(cert).fingerprint256 },
      ...{ client_certificate: fixture('client.pem'), client_key: fixture('client.key') },
    },
  })
  if (created.status !== 201) throw new Error(created.text)
  const account = created.body
  await here.settle()
  const { id } = (await call('GET', `/servers?account_id=${account.id}&q=web`)).body.data[0]
  /** Lets time pass until an action has finished. */
  const finish = async (actionId: string) => {
    for (let seconds = 0; seconds < 7200; seconds += 5) {
      const action = (await call('GET', `/actions/${actionId}`)).body
      if (action.finished_at !== null) return action
      await here.advance(5000)
    }
    throw new Error(`the action ${actionId} does not finish`)
  }
  const act = (serverId: string, action: string, params: object = {}) =>
    call('POST', `/servers/${serverId}/actions`, { action, params })
  const get = async (serverId = id) => (await call('GET', `/servers/${serverId}`)).body
  const order = (name: string, fields: object = {}) => ({
    ...{ name, account_id: account.id, image: 'one', size: { cores: 1, memory_bytes: 2 ** 28, disk_bytes: 2 ** 30 } },
    ...fields,
  })
  /** Creates a server, and waits for it. */
  const bought = async (name: string, fields: object = {}) => {
    const ordered = await call('POST', '/servers', order(name, fields))
    if (ordered.status !== 201) throw new Error(ordered.text)
    const action = await finish(ordered.body.action_id)
    return { action, server: await get(ordered.body.id) }
  }
  /** Creates a volume, and waits for it. */
  const volume = async (name: string, fields: object = {}) => {
    const ordered = await call('POST', '/volumes', { name, account_id: account.id, size_bytes: 2 ** 30, ...fields })
    if (ordered.status !== 201) throw new Error(ordered.text)
    const action = await finish(ordered.body.action_id)
    return { action, volume: (await call('GET', `/volumes/${ordered.body.id}`)).body }
  }
  return { double, account, instance, id: id as string, call, finish, act, get, order, bought, volume }
}
