import { afterAll, expect, test } from 'bun:test'
import { copyFileSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keyFingerprint } from '../../src/core/secrets'
import { call, fullToken, installation, program, startHub, until, type HubProcess, type Installation } from '../support/binary'
import { rowsOf, type Rows } from '../support/database'
import { halfWritten } from '../support/half-written'
import { receiver, stopReceivers } from '../support/receiver'
import { Traffic } from '../support/traffic'
import { Wire } from '../support/wire'

const rates = { pings: 200, flaps: 30, creates: 20, heartbeatEdits: 20, endpointEdits: 10 }

afterAll(stopReceivers)

test('the master key is rotated under load: nothing is lost, and nothing is left on the old key', async () => {
  await using here = await installation()
  await using hub = await startHub(here)
  await using rows = rowsOf(here)
  const busy = await traffic(here, hub)
  const file = keyFile(here)
  const old = fingerprints(file)
  expect(await hubKeys(rows)).toEqual(old)
  await Bun.sleep(500)

  const plan = await here.run(['keys', 'rotate-master', '--plan'])
  expect(plan).toMatchObject({ code: 0, err: '' })
  expect(plan.out).toContain('Would write a new key before the one in')
  expect(fingerprints(file)).toEqual(old)

  const rotated = await here.run(['keys', 'rotate-master'])
  expect({ code: rotated.code, err: rotated.err }).toEqual({ code: 0, err: '' })
  const now = fingerprints(file)
  expect(now).toHaveLength(1)
  expect(now).not.toEqual(old)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await rows.all(`select id from data_keys where master_key_id <> '${now[0]}'`)).toEqual([])
  expect(await hubKeys(rows)).toEqual(now)
  await Bun.sleep(1500)
  await busy.end(rows)

  const verified = await here.run(['keys', 'verify'])
  expect({ code: verified.code, err: verified.err }).toEqual({ code: 0, err: '' })
  expect(verified.out).toContain('; 0 do not.')
  const status = (await here.run(['keys', 'status'])).out
  expect(status).toContain(`${now[0]}  current, wraps new data keys`)
  expect(status).not.toContain(old[0]!)
  // The next start needs the new key and nothing else.
  expect(await hub.stop()).toBe(0)
  await using again = await startHub(here)
  expect((await fetch(`${again.url}/readyz`)).status).toBe(200)
  expect(again.err()).not.toContain('NotOpened')
}, 120_000)

test('a rotation of the master key that is killed goes on when it is run again', async () => {
  await using here = await installation()
  await using hub = await startHub(here)
  await using rows = rowsOf(here)
  await fullToken(here)
  const file = keyFile(here)
  const old = fingerprints(file)
  for (const afterMs of [5, 60, 150, 300, 500, 800]) {
    const run = Bun.spawn([program('bailiwick'), 'keys', 'rotate-master'], {
      env: here.env,
      cwd: tmpdir(),
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
    })
    await Bun.sleep(afterMs)
    run.kill('SIGKILL')
    await run.exited
    const verified = await here.run(['keys', 'verify'])
    expect({ afterMs, code: verified.code, err: verified.err }).toEqual({ afterMs, code: 0, err: '' })
  }
  const ended = await here.run(['keys', 'rotate-master'])
  expect({ code: ended.code, err: ended.err }).toEqual({ code: 0, err: '' })
  const now = fingerprints(file)
  expect(now).toHaveLength(1)
  expect(now).not.toEqual(old)
  expect(await rows.all(`select id from data_keys where master_key_id <> '${now[0]}'`)).toEqual([])
  expect((await fetch(`${hub.url}/healthz`)).status).toBe(200)
}, 60_000)

test.skipIf(!process.env.BAILIWICK_DATABASE_URL)(
  'a hub with a key file of its own is waited for, by name',
  async () => {
    await using here = await installation()
    const [first, second] = [keyFile(here), join(here.folder, 'second.key')]
    copyFileSync(first, second)
    await using near = await startHub(here)
    await using far = await startHub(here, { env: { BAILIWICK_MASTER_KEY_FILE: second } })
    await using rows = rowsOf(here)
    const token = await fullToken(here)
    const old = fingerprints(first)
    const late = await here.run(['keys', 'rotate-master', '--wait', '3s'])
    expect(late.code).toBe(1)
    expect(late.err).toMatch(/These hubs have not read the key [0-9a-f]{16}: \S+ \(hub_\w+\) has [0-9a-f]{16}\. Put both lines/)
    // Meanwhile both go on, and what one of them seals the other opens.
    const schedule = { kind: 'period', period_seconds: 600, grace_seconds: 60 }
    for (const [makes, reads] of [
      [near, far],
      [far, near],
    ] as const) {
      const made = (await call(makes, token, 'POST', '/v1/heartbeats', { name: 'beat', schedule })).body
      expect((await call(reads, token, 'GET', `/v1/heartbeats/${made.id}`)).body.uuid).toBe(made.uuid)
    }
    expect((await rows.all(`select id from data_keys where master_key_id <> '${old[0]}'`)).length).toBe(0)
    const ended = here.run(['keys', 'rotate-master', '--wait', '20s'])
    await Bun.sleep(500)
    copyFileSync(first, second)
    expect(await ended).toMatchObject({ code: 0, err: '' })
    expect(await rows.all(`select id from data_keys where master_key_id = '${old[0]}'`)).toEqual([])
    for (const hub of [near, far]) expect((await fetch(`${hub.url}/readyz`)).status).toBe(200)
    expect(near.err() + far.err()).not.toContain('NotOpened')
  },
  60_000,
)

test('a rotation of data keys killed in the middle goes on when it is run again, under load', async () => {
  await using here = await installation()
  await using hub = await startHub(here)
  await using rows = rowsOf(here)
  const busy = await traffic(here, hub, 3000)
  const before = await keyIds(rows)
  expect(before).toHaveLength(1)
  const stopRotating = busy.rotateSome()

  const run = Bun.spawn([program('bailiwick'), 'keys', 'rotate-data'], {
    env: here.env,
    cwd: tmpdir(),
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  // Batches go by id, and what the traffic makes anew has the highest: the first of all tells that the first batch is done.
  const renewed = await until('the first batch', async () => {
    const [first] = await rows.all<{ key: string }>(
      'select substr(uuid_sealed, 5, 16) as key from heartbeats order by id limit 1',
    )
    return first!.key !== before[0] && first!.key
  })
  run.kill('SIGKILL')
  await run.exited
  const left = await rows.all(`select id from heartbeats where substr(uuid_sealed, 5, 16) = '${before[0]}'`)
  expect(left.length).toBeGreaterThan(0)
  await Bun.sleep(300)

  const ended = await here.run(['keys', 'rotate-data'])
  expect({ code: ended.code, err: ended.err }).toEqual({ code: 0, err: '' })
  expect(ended.out).toContain('Going on with the rotation that began at')
  const rotated = await stopRotating()
  expect(rotated.size).toBeGreaterThan(0)
  // The key that the killed run made is the one in use, and the one before is gone.
  expect(await keyIds(rows)).toEqual([renewed])
  const stale = ['heartbeats.uuid_sealed', 'ping_keys.key_sealed', 'webhook_endpoints.secret_sealed'].map(name => name.split('.'))
  for (const [table, column] of stale) {
    expect(await rows.all(`select 1 from ${table} where substr(${column}, 5, 16) <> '${renewed}'`)).toEqual([])
  }
  await busy.end(rows)
  const verified = await here.run(['keys', 'verify'])
  expect({ code: verified.code, err: verified.err }).toEqual({ code: 0, err: '' })
  // What was renewed by its owner meanwhile is what its owner was told.
  for (const [id, uuid] of rotated) expect((await busy.traffic.expect(200, 'GET', `/v1/heartbeats/${id}`)).uuid).toBe(uuid)
  expect(hub.err()).not.toContain('NotOpened')
}, 120_000)

/** Traffic on a hub: pings, edits, creations, and deliveries of the alerts that some pings raise. */
async function traffic(here: Installation, hub: HubProcess, more = 0) {
  const seen = receiver()
  const wire = new Wire(Number(new URL(hub.url).port))
  const traffic = new Traffic(wire, await fullToken(here))
  await traffic.prepare({
    steady: 50,
    flapping: 20,
    edited: 20,
    endpoints: [{ url: `${seen.url}/both`, events: ['monitor.alert', 'monitor.recovered'] }],
  })
  await traffic.expect(200, 'GET', '/v1/heartbeats/ping-key')
  const schedule = { kind: 'period', period_seconds: 86_400, grace_seconds: 3600 }
  const made: { id: string }[] = await Promise.all(
    Array.from({ length: more }, (_, n) => traffic.expect(201, 'POST', '/v1/heartbeats', { name: `more ${n}`, schedule })),
  )
  traffic.resume(Number(new URL(hub.url).port), rates)
  return {
    traffic,
    /** Gives heartbeats from the end of the list new UUIDs, one after the other, until it is stopped; returns the last of each. */
    rotateSome() {
      const uuids = new Map<string, string>()
      let stopped = false
      const loop = (async () => {
        for (let at = made.length - 1; at >= 0 && !stopped; at--) {
          const { id } = made[at]!
          uuids.set(id, (await traffic.expect(200, 'POST', `/v1/heartbeats/${id}/rotate`)).uuid)
        }
      })()
      return async () => {
        stopped = true
        await loop
        return uuids
      }
    },
    /** Ends it, and looks whether all that was acknowledged is there. */
    async end(rows: Rows) {
      traffic.pause()
      await traffic.settle(15_000)
      await until('every answer', async () => wire.waiting === 0)
      await until('the queue empty', async () => (await rows.all('select 1 from jobs')).length === 0, 30_000)
      expect(traffic.surprises).toEqual([])
      expect(await traffic.lost(rows)).toEqual([])
      expect(await halfWritten(rows)).toEqual([])
      const deliveries = await rows.all<{ status: string; message_id: string }>(
        'select status, message_id from webhook_deliveries',
      )
      expect(deliveries.length).toBeGreaterThan(10)
      expect(deliveries.filter(one => one.status !== 'delivered')).toEqual([])
      const received = new Set(seen.received.map(one => one.headers.get('webhook-id')))
      expect(deliveries.filter(one => !received.has(one.message_id))).toEqual([])
      expect(traffic.acknowledged.pings).toBeGreaterThan(50)
    },
  }
}

const keyFile = (here: Installation): string => here.env.BAILIWICK_MASTER_KEY_FILE ?? join(here.folder, 'master.key')

const fingerprints = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => keyFingerprint(Buffer.from(line, 'base64')))

/** Data keys of workspaces; the installation's own is not among them. */
const keyIds = async (rows: Rows) =>
  (await rows.all<{ id: string }>(`select id from data_keys where workspace_id <> ''`)).map(row => row.id)

const hubKeys = async (rows: Rows) =>
  (await rows.all<{ id: string }>('select master_key_id as id from hubs where master_key_id is not null')).map(row => row.id)
