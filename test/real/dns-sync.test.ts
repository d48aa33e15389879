import { afterAll, beforeAll, expect, test } from 'bun:test'
import { call, fullToken, installation, startHub, until, type HubProcess, type Installation } from '../support/binary'
import type { OtherServer } from '../support/name-servers'
import { startUpdatableBind } from '../support/update-servers'

// A zone at BIND that is changed externally with nsupdate, managed by the compiled hub.

const key = { name: 'bailiwick', algorithm: 'hmac-sha256', secret: Buffer.alloc(32, 9).toString('base64') }
const file = `$TTL 3600
@ SOA ns1 hostmaster 1 3600 600 86400 300
@ NS ns1
ns1 A 192.0.2.53
www 300 A 192.0.2.1
www 300 A 192.0.2.2
note TXT "a;b\\"c\\\\d" "second"
`

let here: Installation
let hub: HubProcess
let bind: OtherServer
let token: string
beforeAll(async () => {
  here = await installation()
  hub = await startHub(here)
  bind = await startUpdatableBind(['z.test'], file, { key, notifies: hub.dnsPort })
  token = await fullToken(here)
}, 180_000)
afterAll(async () => {
  await bind?.stop()
  await hub?.stop()
  await here?.[Symbol.asyncDispose]()
})

const api = async (method: string, path: string, body?: unknown) => {
  const answer = await call(hub, token, method, path, body)
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** Makes an external change. */
async function nsupdate(...lines: string[]): Promise<void> {
  const run = Bun.spawn(['nsupdate', '-y', `${key.algorithm}:${key.name}:${key.secret}`], { stdin: 'pipe', stderr: 'pipe' })
  run.stdin.write([`server 127.0.0.1 ${bind.port}`, 'zone z.test', ...lines, 'send', ''].join('\n'))
  await run.stdin.end()
  expect([await run.exited, await new Response(run.stderr).text()]).toEqual([0, ''])
}

/** Reads the zone from the server, without the SOA. */
async function there(): Promise<string[]> {
  const run = Bun.spawn(
    [
      'dig',
      '@127.0.0.1',
      '-p',
      String(bind.port),
      '-y',
      `${key.algorithm}:${key.name}:${key.secret}`,
      '+noall',
      '+answer',
      'z.test',
      'AXFR',
    ],
    { stdout: 'pipe' },
  )
  const text = await new Response(run.stdout).text()
  return text
    .split('\n')
    .filter(line => line !== '' && !line.startsWith(';') && !/\tSOA\t|\tTSIG\t/.test(line))
    .map(line => line.replaceAll(/\s+/g, ' '))
    .sort()
}

test('an nsupdate change is found within 2 s, reported, not overwritten, and reverted exactly', async () => {
  const provider = await api('POST', '/v1/dns/providers', {
    kind: 'rfc2136',
    name: 'BIND',
    settings: { host: '127.0.0.1', port: bind.port, key_name: key.name, key_secret: key.secret },
  })
  const { id } = await api('POST', '/v1/dns/zones', { name: 'z.test', provider_id: provider.id })
  const path = `/v1/dns/zones/${id}`
  const stands = (state: string) => until(state, async () => (await api('GET', path)).sync.state === state)
  await stands('unmanaged')
  const started = await there()
  await api('POST', `${path}/adopt`, { all: true })
  await stands('synced')
  expect(await there()).toEqual(started)

  await api('POST', `${path}/records`, { type: 'A', name: 'new', content: '192.0.2.7', ttl: 300 })
  await stands('synced')
  const before = await there()
  expect(before).toContain('new.z.test. 300 IN A 192.0.2.7')

  // More than one event would be too many.
  const reported = async () =>
    (await api('GET', '/v1/events?kind=dns.records_changed&limit=100')).data.filter((one: any) => one.data.origin === 'external')
  const known = (await reported()).length
  await nsupdate(
    'update delete www.z.test. A',
    'update add www.z.test. 60 A 198.51.100.1',
    'update delete note.z.test. TXT',
    'update add other.z.test. 60 A 198.51.100.2',
  )
  const changed = await there()
  await until('the drift', async () => (await api('GET', path)).sync.state === 'drifted', 2_000)
  const drift = (await api('GET', `${path}/drift`)).rrsets
  expect(drift.map((one: any) => `${one.name} ${one.type} ${one.state} ${one.kind}`)).toEqual([
    'note TXT drifted deleted',
    'other A unmanaged added',
    'www A drifted changed',
  ])
  expect(await there()).toEqual(changed)
  const events = await reported()
  expect(events.length - known).toBe(1)
  expect(events.map((one: any) => one.data.change_count)).toContain(4)

  await api('PATCH', path, { unmanaged: 'delete' })
  await until('the other gone', async () => !(await there()).some(line => line.startsWith('other.')))
  // The hub may not have finished the deletion yet, and the plan would be outdated.
  await until('the drift without it', async () =>
    (await api('GET', `${path}/drift`)).rrsets.every((one: any) => one.name !== 'other'),
  )
  const plan = await api('POST', `${path}/plan`, { enforce: 'all' })
  const action = await api('POST', `${path}/apply`, {
    plan_id: plan.id,
    hash: plan.hash,
    allow: plan.blocked.map((one: any) => one.code),
    note: 'Back to what it was.',
  })
  const ended = await until('the end', async () => {
    const current = await api('GET', `/v1/actions/${action.id}`)
    return ['pending', 'running'].includes(current.status) ? null : current
  })
  expect([ended.status, ended.error]).toEqual(['success', null])
  expect(await there()).toEqual(before)
  expect((await api('GET', path)).synced).toBe(true)
}, 180_000)
