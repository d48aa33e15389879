import { afterAll, expect, test } from 'bun:test'
import { copyFileSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keyFingerprint } from '../../src/core/secrets'
import { call, fullToken, installation, program, startHub, until, type HubProcess, type Installation } from '../support/binary'
import { rowsOf, type Rows } from '../support/database'
import { inconsistencies } from '../support/consistency'
import { receiver, stopReceivers } from '../support/receiver'
import { Traffic } from '../support/traffic'
import { RawHttpClient } from '../support/raw-http-client'

const rates = { pings: 200, flaps: 30, creates: 20, heartbeatUpdates: 20, endpointUpdates: 10 }

afterAll(stopReceivers)

test('a rotation of the master key under load loses nothing, and replaces the old key everywhere', async () => {
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
  expect(plan.out).toContain('Would add a new key to')
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
  expect(verified.out).toContain('decrypted, 0 failed.')
  const status = (await here.run(['keys', 'status'])).out
  expect(status).toContain(`${now[0]}  current, encrypts new data keys`)
  expect(status).not.toContain(old[0]!)
  // The next start only needs the new key.
  expect(await hub.stop()).toBe(0)
  await using again = await startHub(here)
  expect((await fetch(`${again.url}/readyz`)).status).toBe(200)
  expect(again.err()).not.toContain('DecryptionFailed')
}, 180_000)

test('a rotation of the master key that was killed continues when it is run again', async () => {
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
}, 180_000)

test.skipIf(!process.env.BAILIWICK_DATABASE_URL)(
  'a rotation waits for hubs with a separate key file, and names them',
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
    expect(late.err).toMatch(
      /These hubs have not loaded the key [0-9a-f]{16}: \S+ \(hub_\w+\) has [0-9a-f]{16}\. Copy both lines/,
    )
    // Both keep working, and each can decrypt what the other encrypted.
    const schedule = { kind: 'period', period_seconds: 600, grace_seconds: 60 }
    for (const [writer, reader] of [
      [near, far],
      [far, near],
    ] as const) {
      const created = (await call(writer, token, 'POST', '/v1/heartbeats', { name: 'beat', schedule })).body
      expect((await call(reader, token, 'GET', `/v1/heartbeats/${created.id}`)).body.uuid).toBe(created.uuid)
    }
    expect((await rows.all(`select id from data_keys where master_key_id <> '${old[0]}'`)).length).toBe(0)
    const ended = here.run(['keys', 'rotate-master', '--wait', '20s'])
    await Bun.sleep(500)
    copyFileSync(first, second)
    expect(await ended).toMatchObject({ code: 0, err: '' })
    expect(await rows.all(`select id from data_keys where master_key_id = '${old[0]}'`)).toEqual([])
    for (const hub of [near, far]) expect((await fetch(`${hub.url}/readyz`)).status).toBe(200)
    expect(near.err() + far.err()).not.toContain('DecryptionFailed')
  },
  180_000,
)

test('a rotation of data keys under load that was killed continues when it is run again', async () => {
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
  // Batches are processed by id, and the traffic creates higher ids: once the first row is done, so is the first batch.
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
  expect(ended.out).toContain('Resuming the rotation started at')
  const rotated = await stopRotating()
  expect(rotated.size).toBeGreaterThan(0)
  // The key created by the killed run is in use, and the previous one is deleted.
  expect(await keyIds(rows)).toEqual([renewed])
  const stale = ['heartbeats.uuid_sealed', 'ping_keys.key_sealed', 'webhook_endpoints.secret_sealed'].map(name => name.split('.'))
  for (const [table, column] of stale) {
    expect(await rows.all(`select 1 from ${table} where substr(${column}, 5, 16) <> '${renewed}'`)).toEqual([])
  }
  await busy.end(rows)
  const verified = await here.run(['keys', 'verify'])
  expect({ code: verified.code, err: verified.err }).toEqual({ code: 0, err: '' })
  // UUIDs that were rotated in the meantime match the responses.
  for (const [id, uuid] of rotated) expect((await busy.traffic.expect(200, 'GET', `/v1/heartbeats/${id}`)).uuid).toBe(uuid)
  expect(hub.err()).not.toContain('DecryptionFailed')
}, 180_000)

/** Starts traffic to a hub: pings, updates, creations, and deliveries of the alerts that some pings trigger. */
async function traffic(here: Installation, hub: HubProcess, more = 0) {
  const seen = receiver()
  const client = new RawHttpClient(Number(new URL(hub.url).port))
  const traffic = new Traffic(client, await fullToken(here))
  await traffic.prepare({
    steady: 50,
    flapping: 20,
    updated: 20,
    endpoints: [{ url: `${seen.url}/both`, events: ['monitor.alert', 'monitor.recovered'] }],
  })
  await traffic.expect(200, 'GET', '/v1/heartbeats/ping-key')
  const schedule = { kind: 'period', period_seconds: 86_400, grace_seconds: 3600 }
  const created: { id: string }[] = await Promise.all(
    Array.from({ length: more }, (_, n) => traffic.expect(201, 'POST', '/v1/heartbeats', { name: `more ${n}`, schedule })),
  )
  traffic.resume(Number(new URL(hub.url).port), rates)
  return {
    traffic,
    /** Rotates UUIDs of heartbeats one by one, starting at the end of the list. @returns a function that stops it and returns the UUIDs */
    rotateSome() {
      const uuids = new Map<string, string>()
      let stopped = false
      const loop = (async () => {
        for (let at = created.length - 1; at >= 0 && !stopped; at--) {
          const { id } = created[at]!
          uuids.set(id, (await traffic.expect(200, 'POST', `/v1/heartbeats/${id}/rotate`)).uuid)
        }
      })()
      return async () => {
        stopped = true
        await loop
        return uuids
      }
    },
    /** Stops the traffic and expects that nothing acknowledged was lost. */
    async end(rows: Rows) {
      traffic.pause()
      await traffic.settle(15_000)
      await until('all responses', async () => client.waiting === 0)
      await until('the queue empty', async () => (await rows.all('select 1 from jobs')).length === 0, 120_000)
      expect(traffic.unexpected).toEqual([])
      expect(await traffic.lost(rows)).toEqual([])
      expect(await inconsistencies(rows)).toEqual([])
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

/** Data keys of workspaces, without the one of the installation. */
const keyIds = async (rows: Rows) =>
  (await rows.all<{ id: string }>(`select id from data_keys where workspace_id <> ''`)).map(row => row.id)

const hubKeys = async (rows: Rows) =>
  (await rows.all<{ id: string }>('select master_key_id as id from hubs where master_key_id is not null')).map(row => row.id)
