import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { beforeEach, expect, test } from 'bun:test'
import { renewDue } from '../../src/features/acme/managed-certificates/renew-due'
import { watchServers } from '../../src/features/servers/watch'
import { sha256Hex } from '../../src/core/sha256'
import { certificateRequest } from '../../src/core/x509/certificate-request'
import { createPrivateKey as newPrivateKey } from '../../src/core/x509/private-key'
import type { AgentCommand, CommandResult } from '../../src/wire/agent-command'
import { acmeScene, noResolvers } from '../support/acme-scene'
import { AgentDouble } from '../support/agent-double'
import { pointers } from '../support/pointers'
import { world } from '../support/world'

// Certificates whose keys are created by agents, which install them.

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const here = await world(noResolvers)
const { ca, account, create, get, download } = await acmeScene(here, ['example.com'])
const { call } = here.acme
const newServer = async (name: string) =>
  (await call('POST', '/v1/servers', { name, monitor: false }, { 'Idempotency-Key': name })).body.id as string

/** A server whose owner allows it, with its keys. */
class Server {
  readonly keys = new Map<string, string>()
  readonly installed: string[] = []
  readonly commands: string[] = []
  /** What it answers instead of running a command. */
  fails: ((command: AgentCommand) => Partial<CommandResult> | null) | null = null
  isConnected = true
  private constructor(readonly agent: AgentDouble) {}

  static async enroll(name: string, allow: readonly string[]): Promise<Server> {
    return new Server(await AgentDouble.enroll(here, await newServer(name), { allow: allow as never }))
  }

  async work(): Promise<void> {
    if (!this.isConnected) return
    await this.agent.reports()
    for (const { payload } of (await this.agent.fetchCommands()).body.commands) {
      const command = JSON.parse(payload) as AgentCommand
      this.commands.push(command.name)
      const done = this.fails?.(command) ?? { outcome: 'done' as const, output: await this.run(command) }
      await this.agent.reportsResult({ command_id: command.id, detail: null, output: null, ...done } as never)
    }
  }

  private async run({ name, params }: AgentCommand): Promise<string | null> {
    if (name === 'certificate_csr') {
      const key = await newPrivateKey(params.key_type)
      this.keys.set(idOf(key), key)
      return certificateRequest(params.names, key)
    }
    if (name === 'certificate_install') this.installed.push(params.chain)
    return null
  }
}
const idOf = (key: string) => sha256Hex(createPublicKey(key).export({ type: 'spki', format: 'der' }))

const web = await Server.enroll('web-1', ['collect', 'certificates:web', 'certificates:mail'])
const to = (install_profile = 'web', server = web) => ({
  key: { mode: 'agent' },
  deliver: { server_id: server.agent.serverId, install_profile },
})

beforeEach(async () => {
  web.fails = null
  web.isConnected = true
  web.commands.length = 0
  here.clock.advance(61_000)
  await web.work()
  await here.audited()
  await here.emitted()
})

/** Lets agent and hub work until something is true. */
async function until<T>(what: (view: any) => T | Promise<T>, id: string, stepMs = 5_000): Promise<T> {
  for (let step = 0; step < 400; step++) {
    const found = await what(await get(id))
    if (found) return found
    await web.work()
    await here.advance(stepMs)
    await watchServers(here.hub)
  }
  throw new Error(`It did not happen: ${JSON.stringify(await get(id))}`)
}
const ended = (id: string, stepMs?: number) =>
  until(
    async ({ action_id }) => {
      const action = (await call('GET', `/v1/actions/${action_id}`)).body
      return action.finished_at !== null && action
    },
    id,
    stepMs,
  )
const begun = async (names: string[], more: object): Promise<any> => {
  const { status, body, text } = await create(names, more)
  if (status !== 201) throw new Error(text)
  return body
}
const remove = async (id: string) => expect((await call('DELETE', `/v1/managed-certificates/${id}`)).status).toBe(204)
const steps = ['check', 'order', 'publish', 'wait', 'validate', 'finalize', 'store', 'deliver']
const noticesOf = async (id: string) =>
  ((await call('GET', '/v1/notices?limit=100')).body.data as any[]).filter(one => one.resource.id === id)

test('the agent creates the key, and installs the certificate; renewing creates another key', async () => {
  const names = ['shop.example.com', 'www.example.com']
  const created = await create(names, to())
  expect([created.status, created.body.key, created.body.deliver]).toEqual([
    201,
    { mode: 'agent', type: 'ec-256', retention: null },
    { server_id: web.agent.serverId, install_profile: 'web', installed_at: null },
  ])
  const { id } = created.body
  const action = await ended(id)
  expect(action.steps.map((one: any) => [one.name, one.status])).toEqual(steps.map(name => [name, 'success']))
  expect(web.commands).toEqual(['certificate_csr', 'certificate_install'])
  const view = await get(id)
  expect(view).toMatchObject({ status: 'valid', key_available: false, attempts: 0, last_error: null })
  expect(view.deliver.installed_at).not.toBeNull()
  const leaf = new X509Certificate(web.installed.at(-1)!)
  const [first] = web.keys.values()
  expect(leaf.checkPrivateKey(createPrivateKey(first!))).toBe(true)
  expect(await here.audited()).toEqual([
    'certificates.managed_certificate.create',
    'dns.challenge.publish',
    'dns.challenge.remove',
    'certificates.managed_certificate.issue',
    'certificates.managed_certificate.deliver',
  ])
  expect(await here.emitted()).toEqual(['dns.records_changed', 'dns.records_changed', 'certificate.issued'])
  expect((await download(id)).body).toMatchObject({ chain: web.installed.at(-1), private_key: null })

  // At the time of its renewal.
  here.clock.advance(Date.parse(view.next_renewal_at) - here.clock.now())
  await web.work()
  await renewDue(here.hub)
  expect(await ended(id)).toMatchObject({ status: 'success' })
  const renewed = new X509Certificate(web.installed.at(-1)!)
  expect(renewed.serialNumber).not.toBe(leaf.serialNumber)
  expect([web.keys.size, renewed.checkPrivateKey(createPrivateKey([...web.keys.values()][1]!))]).toEqual([2, true])
  await remove(id)
})

test('an agent that is away is waited for, before anything is ordered, and later with the same certificate', async () => {
  web.isConnected = false
  await here.advance(600_000)
  await watchServers(here.hub)
  const { id } = await begun(['away.example.com'], to())
  const detailOf = async ({ action_id }: any, name: string) =>
    (await call('GET', `/v1/actions/${action_id}`)).body.steps.find((one: any) => one.name === name)?.detail
  const waiting = 'Waiting for the agent of the server web-1, which is not connected.'
  await until(async view => (await detailOf(view, 'check')) === waiting, id)
  expect([...ca.orders.values()].filter(one => one.names.includes('away.example.com'))).toEqual([])
  web.isConnected = true
  await until(view => view.status === 'delivering', id, 1000)
  web.isConnected = false
  // What was sent is not fetched, and not run later.
  await until(async view => (await detailOf(view, 'deliver')) === waiting, id)
  // An hour later, the attempt fails, and is repeated.
  const action = await ended(id, 60_000)
  expect(action).toMatchObject({ status: 'error', error: { failure: 'timeout' } })
  const failing = await get(id)
  expect(failing).toMatchObject({ status: 'failing', attempts: 1, last_error: { code: 'provider_failed' } })
  expect([failing.certificate_id !== null, failing.deliver.installed_at]).toEqual([true, null])
  expect((await noticesOf(id))[0].text).toContain('The agent of the server web-1 is not connected.')
  web.isConnected = true
  here.clock.advance(61_000)
  await web.work()
  await renewDue(here.hub)
  const delivered = await ended(id)
  expect(delivered.steps.map((one: any) => [one.name, one.status])).toEqual([['deliver', 'success']])
  const view = await get(id)
  expect(view).toMatchObject({ status: 'valid', attempts: 0, last_error: null, certificate_id: failing.certificate_id })
  expect(view.next_renewal_at).not.toBeNull()
  expect(ca.issued.filter(one => one.names.includes('away.example.com'))).toHaveLength(1)
  await remove(id)
})

test('the renewal is in the window that the authority suggests, although that was read during the delivery', async () => {
  const window = { start: 2 * dayMs, end: 3 * dayMs }
  ca.renewalWindow = window
  const { id } = await begun(['window.example.com'], to())
  await until(view => view.status === 'delivering', id, 1000)
  const at = here.clock.now()
  await renewDue(here.hub)
  await here.settle()
  expect(await get(id)).toMatchObject({ status: 'delivering', ari: { start: new Date(at + window.start).toISOString() } })
  await ended(id)
  const view = await get(id)
  const due = Date.parse(view.next_renewal_at)
  expect([view.status, due >= at + window.start, due <= at + window.end]).toEqual(['valid', true, true])
  const { renewal_due_at } = (await call('GET', `/v1/certificates/${view.certificate_id}`)).body
  expect(renewal_due_at).toBe(view.next_renewal_at)
  ca.renewalWindow = null
  await remove(id)
})

test('a server that refuses the certificate keeps the previous one, and the reason is shown; a request only delivers it', async () => {
  const detail = 'nginx: configuration file test failed. The previous files were restored.'
  web.fails = ({ name }) => (name === 'certificate_install' ? { outcome: 'failed', detail } : null)
  const { id } = await begun(['refused.example.com'], { ...to(), renew: 'manual' })
  expect(await ended(id)).toMatchObject({ status: 'error' })
  expect(await get(id)).toMatchObject({ status: 'failing', last_error: { detail }, next_renewal_at: null })
  web.fails = null
  web.commands.length = 0
  const renewed = await call('POST', `/v1/managed-certificates/${id}/renew`, {})
  expect(renewed.status).toBe(202)
  expect(await ended(id)).toMatchObject({ status: 'success' })
  expect(web.commands).toEqual(['certificate_install'])
  expect((await call('POST', `/v1/managed-certificates/${id}/renew`, {})).body.code).toBe('issued_recently')
  await remove(id)
})

test('a server that is installing another certificate is asked again', async () => {
  const detail = 'Another certificate is being installed with the same profile.'
  let isBusy = true
  web.fails = ({ name }) => (name === 'certificate_install' && isBusy ? { outcome: 'expired', detail } : null)
  const { id } = await begun(['busy.example.com'], to())
  await until(async ({ action_id }) => {
    const step = (await call('GET', `/v1/actions/${action_id}`)).body.steps.find((one: any) => one.name === 'deliver')
    return step?.detail === `The server did not run the command. ${detail}`
  }, id)
  isBusy = false
  expect(await ended(id)).toMatchObject({ status: 'success' })
  expect(web.commands.filter(name => name === 'certificate_install').length).toBeGreaterThan(1)
  await remove(id)
})

test('a request of the agent with other names or another key type is not sent', async () => {
  const key = await newPrivateKey('ec-384')
  const wrong = [
    [certificateRequest(['other.example.com'], await newPrivateKey('ec-256')), 'has other names.'],
    [certificateRequest(['wrong.example.com'], key), 'has a key of another type.'],
    [key, 'must be one PEM block'],
    [null, 'must be one PEM block'],
  ] as const
  for (const [output, detail] of wrong) {
    web.fails = ({ name }) => (name === 'certificate_csr' ? { outcome: 'done', output } : null)
    const { id } = await begun(['wrong.example.com'], to())
    expect(await ended(id)).toMatchObject({ status: 'error', error: { failure: 'invalid_response' } })
    expect((await get(id)).last_error.detail).toContain(detail)
    await remove(id)
  }
  expect(ca.issued.filter(one => one.names.includes('wrong.example.com'))).toEqual([])
})

test('deleting ends an action that waits, and leaves no records', async () => {
  const { id } = await begun(['gone.example.com'], to())
  web.isConnected = false
  await until(view => view.status === 'issuing' && publishedIn('gone.example.com'), id)
  const { action_id } = await get(id)
  await remove(id)
  expect((await call('GET', `/v1/actions/${action_id}`)).body.status).toBe('canceled')
  expect(await publishedIn('gone.example.com')).toBe(false)
  await here.advance(600_000)
  expect(ca.issued.filter(one => one.names.includes('gone.example.com'))).toEqual([])
})
const publishedIn = async (name: string): Promise<boolean> =>
  ((await call('GET', '/v1/dns/records?type=TXT')).body.data as any[]).some(
    one => `${one.name}.example.com` === `_acme-challenge.${name}`,
  )

test('what can’t be delivered is refused, naming the field and the rule', async () => {
  const names = ['bad.example.com']
  const bare = await newServer('bare')
  const closed = await Server.enroll('closed', ['collect', 'reboot'])
  const noRoot = await Server.enroll('no-root', ['collect', 'certificates:web'])
  await noRoot.agent.reports({ facts: { hostname: 'no-root', agent_as_root: false } as never })
  const at = (server_id: string, install_profile = 'web') => ({ key: { mode: 'agent' }, deliver: { server_id, install_profile } })
  const detailOf = async (more: object) => {
    const { status, body } = await create(names, more)
    return [status, body.errors?.[0].pointer, body.errors?.[0].detail]
  }
  expect(await detailOf(at(bare))).toEqual([409, '#/deliver/server_id', 'The server bare has no agent.'])
  expect(await detailOf(at(closed.agent.serverId))).toEqual([409, '#/deliver/server_id', expect.stringContaining('agent.conf')])
  expect(await detailOf(at(noRoot.agent.serverId))).toEqual([409, '#/deliver/server_id', expect.stringContaining('systemd')])
  expect(await detailOf(to('ftp'))).toEqual([
    422,
    '#/deliver/install_profile',
    expect.stringContaining('Its profiles: web, mail.'),
  ])
  expect(await detailOf(at('srv_x'))).toEqual([422, '#/deliver/server_id', 'There is no server with this ID.'])
  expect(pointers(await create(names, { key: { mode: 'agent' } }))).toEqual([422, ['#/deliver']])
  expect(pointers(await create(names, { deliver: to().deliver }))).toEqual([422, ['#/deliver']])
  expect(pointers(await create(names, { ...to(), key: { mode: 'agent', retention: 'keep' } }))).toEqual([
    422,
    ['#/key/retention'],
  ])
  expect(pointers(await create(names, { ...to(), csr: 'x' }))).toEqual([422, ['#/csr']])
  expect(pointers(await create(names, to('../x')))).toEqual([422, ['#/deliver/install_profile']])
  const long = Array.from({ length: 50 }, (_, at) => `${'n'.repeat(60)}.${'m'.repeat(60)}.${'o'.repeat(50)}${at}.example.com`)
  expect(pointers(await create(long, to()))).toEqual([422, ['#/names']])

  const { id } = await begun(['one.example.com'], to())
  expect(pointers(await create(names, to()))).toEqual([409, ['#/deliver/install_profile']])
  const limited = await here.scoped('certificates.write')
  const body = { names, acme_account_id: account.id, ...to('mail') }
  const denied = await limited.call('POST', '/v1/managed-certificates', body)
  expect([denied.status, denied.body.detail]).toEqual([403, expect.stringContaining('cloud.write')])
  await ended(id)
  // The owner of the server takes it away.
  await web.agent.reports({ allow: ['collect'] as never })
  here.clock.advance(dayMs)
  await call('POST', `/v1/managed-certificates/${id}/renew`, { force: true })
  expect(await ended(id)).toMatchObject({
    status: 'error',
    error: { code: 'conflict', detail: expect.stringContaining('agent.conf') },
  })
  expect((await here.rival.call('GET', `/v1/managed-certificates/${id}`)).status).toBe(404)
})
