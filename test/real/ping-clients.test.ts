import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { call, fullToken, installation, startHub, type HubProcess, type Installation } from '../support/binary'

// Clients as Debian ships them, pinging as they ping their usual service.
let place: Installation
let hub: HubProcess
let token: string
let folder: string

beforeAll(async () => {
  place = await installation()
  hub = await startHub(place)
  token = await fullToken(place)
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-clients-'))
}, 60_000)

afterAll(async () => {
  await hub?.stop()
  await place?.[Symbol.asyncDispose]()
  if (folder) rmSync(folder, { recursive: true, force: true })
})

async function heartbeat(name: string) {
  const made = await call(hub, token, 'POST', '/v1/heartbeats', { name, schedule: { kind: 'period', period_seconds: 3600, grace_seconds: 600 } })
  expect(made.status).toBe(201)
  return made.body as { id: string; ping_url: string }
}

/** The pings of a heartbeat, oldest first, with their bodies. */
async function pingsOf(id: string) {
  const { body } = await call(hub, token, 'GET', `/v1/heartbeats/${id}/pings?sort=id`)
  return await Promise.all((body.data as { n: number }[]).map(async ({ n }) => (await call(hub, token, 'GET', `/v1/heartbeats/${id}/pings/${n}`)).body as { kind: string; body: string; body_bytes: number; method: string; user_agent: string; exit_status: number | null; duration_ms: number | null }))
}
const statusOf = async (id: string) => (await call(hub, token, 'GET', `/v1/heartbeats/${id}`)).body.status as string

async function shell(script: string, env: Record<string, string> = {}): Promise<{ code: number; out: string; err: string }> {
  const run = Bun.spawn(['bash', '-c', script], { env: { ...process.env, ...env }, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [out, err, code] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text(), run.exited])
  return { code, out, err }
}

test('curl pings as its users write it into crontabs', async () => {
  const hb = await heartbeat('curl')
  const url = hb.ping_url
  const lines = [
    `curl -fsS -m 10 --retry 5 -o /dev/null ${url}`,
    `curl -fsS -m 10 --retry 5 -o /dev/null ${url}/start`,
    `curl -fsS -m 10 --retry 5 -o /dev/null --data-raw "$(printf 'all\\nfine')" ${url}`,
    `false; curl -fsS -m 10 --retry 5 -o /dev/null ${url}/$?`,
    `true; curl -fsS -m 10 --retry 5 -o /dev/null ${url}/$?`,
    `m=$(echo broken; exit 3); curl -fsS -m 10 --retry 5 --data-raw "$m" ${url}/fail`,
    `curl -fsSI -m 10 -o /dev/null ${url}`,
  ]
  for (const line of lines) expect([line, (await shell(line)).code]).toEqual([line, 0])
  const pings = await pingsOf(hb.id)
  expect(pings.map(one => [one.method, one.kind, one.exit_status, one.body])).toEqual([
    ['GET', 'success', null, ''], ['GET', 'start', null, ''], ['POST', 'success', null, 'all\nfine'], ['GET', 'fail', 1, ''], ['GET', 'success', 0, ''],
    ['POST', 'fail', null, 'broken'], ['HEAD', 'success', null, ''],
  ])
  expect(pings[2]!.duration_ms).toBeGreaterThanOrEqual(0)
  expect(pings[0]!.user_agent).toStartWith('curl/')
  // -f turns an unknown address into an exit status that cron mails about.
  expect((await shell(`curl -fsS -m 10 -o /dev/null ${hub.url}/ping/${crypto.randomUUID()}`)).code).toBe(22)
})

test('wget pings', async () => {
  const hb = await heartbeat('wget')
  expect((await shell(`wget ${hb.ping_url} -T 10 -t 5 -O /dev/null`)).code).toBe(0)
  expect((await shell(`wget --post-data=text ${hb.ping_url}/log -T 10 -t 5 -O -`)).out).toBe('OK')
  expect((await pingsOf(hb.id)).map(one => [one.method, one.kind, one.body])).toEqual([['GET', 'success', ''], ['POST', 'log', 'text']])
})

test('borgmatic tells the start, the end with its log, and a failure', async () => {
  const hb = await heartbeat('borgmatic')
  const source = join(folder, 'source')
  mkdirSync(source)
  writeFileSync(join(source, 'file'), 'something to keep')
  const config = (repository: string) => {
    const file = join(folder, `${repository}.yaml`)
    writeFileSync(file, `location:\n  source_directories: [${source}]\n  repositories: [${join(folder, repository)}]\nhooks:\n  healthchecks:\n    ping_url: ${hb.ping_url}\n`)
    return file
  }
  const env = { HOME: folder, BORG_PASSPHRASE: '', BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK: 'yes' }
  // A log file keeps it from looking for a syslog daemon.
  const log = join(folder, 'borgmatic.log')
  const repository = config('repository')
  const made = await shell(`borgmatic --log-file ${log} -c ${repository} init --encryption none`, env)
  expect(made.code).toBe(0)

  const kept = await shell(`borgmatic --log-file ${log} -c ${repository} create --stats --monitoring-verbosity 1`, env)
  expect([kept.code, kept.err]).toEqual([0, ''])
  expect(await statusOf(hb.id)).toBe('up')
  const first = await pingsOf(hb.id)
  expect(first.map(one => [one.method, one.kind])).toEqual([['POST', 'start'], ['POST', 'success']])
  expect(first[1]!.duration_ms).toBeGreaterThan(0)
  expect(first[1]!.body_bytes).toBeGreaterThan(0)
  expect(first[1]!.body_bytes).toBeLessThanOrEqual(100_000)

  const broken = await shell(`borgmatic --log-file ${log} -c ${config('not-there')} create`, env)
  expect(broken.code).not.toBe(0)
  const after = (await pingsOf(hb.id)).slice(2)
  expect(after.map(one => one.kind)).toEqual(['start', 'fail'])
  expect(after[1]!.body).toContain('not-there')
  expect(await statusOf(hb.id)).toBe('down')
}, 60_000)
