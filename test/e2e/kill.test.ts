import { afterAll, expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { fullToken, installation, program, startHub, until, type HubProcess, type Installation } from '../support/binary'
import { rowsOf } from '../support/database'
import { inconsistencies, unfinishedWork } from '../support/consistency'
import { receiver, stopReceivers } from '../support/receiver'
import { mulberry32 } from '../support/random'
import { dueAfterMs, Traffic } from '../support/traffic'
import { RawHttpClient } from '../support/raw-http-client'

const rounds = Number(process.env.BAILIWICK_TEST_KILL_ROUNDS ?? 20)
const seed = Number(process.env.BAILIWICK_TEST_KILL_SEED ?? crypto.getRandomValues(new Uint32Array(1))[0])
// 1,000 pings and 100 writes a second, and about sixty deliveries of alerts and recoveries that some pings trigger.
const rates = { pings: 960, reports: 20, flaps: 40, creates: 40, heartbeatUpdates: 40, endpointUpdates: 20 }
// Enough that no heartbeat goes down while the test waits for the rest.
const onlyPings = { pings: 200, reports: 0, flaps: 0, creates: 0, heartbeatUpdates: 0, endpointUpdates: 0 }

afterAll(stopReceivers)

test(`a hub killed at ${rounds} random times loses nothing that it acknowledged, and leaves nothing inconsistent`, async () => {
  const random = mulberry32(seed)
  process.stdout.write(`seed ${seed} (BAILIWICK_TEST_KILL_SEED)\n`)
  await using here = await installation()
  const seen = receiver()
  let hub = await startHub(here)
  await using _ = {
    async [Symbol.asyncDispose]() {
      await hub.stop('SIGKILL')
    },
  }
  const client = new RawHttpClient(portOf(hub), 256)
  const traffic = new Traffic(client, await fullToken(here))
  await traffic.prepare({
    steady: 200,
    flapping: 20,
    updated: 50,
    // At most 20 changes of each.
    sources: rounds * 10,
    endpoints: [
      { url: `${seen.url}/both`, events: ['monitor.alert', 'monitor.recovered'] },
      { url: `${seen.url}/switched`, events: ['monitor.alert'], toggled: true },
      ...[1, 2, 3, 4].map(n => ({ url: `${seen.url}/silent-${n}`, events: ['domain.expiring'] })),
    ],
  })
  await using rows = rowsOf(here)
  let busyMs = 0

  for (let round = 1; round <= rounds; round++) {
    const startedAt = performance.now()
    traffic.resume(portOf(hub), rates)
    await Bun.sleep(1000 + random() * 2000)
    expect(await hub.stop('SIGKILL')).not.toBe(0)
    busyMs += performance.now() - startedAt
    traffic.disconnect()
    if (random() < 0.25) await killAtStart(here, random() * 400)
    hub = await startHub(here)
    expect({ round, lost: await traffic.lost(rows) }).toEqual({ round, lost: [] })
    expect({ round, found: await inconsistencies(rows) }).toEqual({ round, found: [] })
  }

  traffic.resume(portOf(hub), onlyPings)
  await traffic.settle(30_000)
  expect(traffic.withoutResponse()).toEqual([])
  await traffic.resumeEndpoints()
  await until('the queue empty', async () => (await rows.all('select 1 from jobs')).length === 0, 60_000)
  const missed = await rows.all<{ id: string }>(`select heartbeat_id as id from flips where reason in ('late', 'start_timeout')`)
  const late = new Set(missed.map(row => row.id))
  const unfinished = await unfinishedWork(rows)
  traffic.pause()
  await until('all responses to pings', async () => client.waiting === 0)
  expect(unfinished).toEqual([])
  // A stalled machine can really miss pings, so only count heartbeats that were certainly pinged in time.
  const inTime = traffic.steady.filter(one => one.longestGapMs < dueAfterMs)
  expect(inTime.filter(one => late.has(one.id))).toEqual([])
  expect(inTime.length).toBeGreaterThan(traffic.steady.length / 2)
  expect(traffic.unexpected).toEqual([])
  expect(await traffic.lost(rows)).toEqual([])

  const messages = Map.groupBy(seen.received, one => `${one.path} ${one.headers.get('webhook-id')}`)
  const deliveries = await rows.all<{ path: string; message_id: string }>(
    `select substr(url, ${seen.url.indexOf('/hook') + 1}) as path, message_id from webhook_deliveries
    join webhook_endpoints on webhook_endpoints.id = endpoint_id`,
  )
  expect(deliveries.filter(one => !messages.has(`${one.path} ${one.message_id}`))).toEqual([])
  expect(messages.size).toBe(deliveries.length)
  // A message is only sent twice if its hub was killed before logging the response, with at most eight in flight per endpoint.
  expect(seen.received.length - messages.size).toBeLessThanOrEqual(rounds * 2 * 8)

  const listed = await everyId(traffic)
  expect(traffic.created.filter(one => !listed.has(one.id!))).toEqual([])
  client.close()
  expect(await hub.stop()).toBe(0)
  const perSecond = (n: number) => Math.round((n * 1000) / busyMs)
  const pings = perSecond(traffic.acknowledged.pings)
  const longestGapMs = Math.round(Math.max(...traffic.steady.map(one => one.longestGapMs)))
  process.stdout.write(
    `${rounds} kills in ${Math.round(busyMs / 1000)} s of traffic; acknowledged: ${pings} pings/s and ` +
      `${perSecond(traffic.acknowledged.writes)} writes/s, ${traffic.acknowledged.reports} reports; ${deliveries.length} deliveries, ` +
      `${seen.received.length - messages.size} of them sent twice; ` +
      `longest time between two pings of a heartbeat ${longestGapMs} ms\n`,
  )
  // On a machine that is much too slow, this test would prove nothing.
  expect(pings).toBeGreaterThan(200)
  expect(traffic.acknowledged.reports).toBeGreaterThan(rounds * 10)
}, 240_000)

/** Kills a hub during its start, while it opens the database and catches up. */
async function killAtStart(here: Installation, afterMs: number): Promise<void> {
  const run = Bun.spawn([program('bailiwick'), 'serve', '--listen', '127.0.0.1:0'], {
    env: here.env,
    cwd: tmpdir(),
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await Bun.sleep(afterMs)
  run.kill('SIGKILL')
  await run.exited
}

/** Lists the ids of all heartbeats with the API. */
async function everyId(traffic: Traffic): Promise<Set<string>> {
  const ids = new Set<string>()
  for (let path: string | null = '/v1/heartbeats?limit=100'; path;) {
    const page: Page = await traffic.expect(200, 'GET', path)
    for (const { id } of page.data) ids.add(id)
    const { next_cursor } = page.pagination
    path = next_cursor && `/v1/heartbeats?limit=100&cursor=${encodeURIComponent(next_cursor)}`
  }
  return ids
}

interface Page {
  data: { id: string }[]
  pagination: { next_cursor: string | null }
}

const portOf = (hub: HubProcess): number => Number(new URL(hub.url).port)
