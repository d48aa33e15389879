import { afterAll, expect, test } from 'bun:test'
import { call, fullToken, installation, startHub, until } from '../support/binary'
import { rowsOf } from '../support/database'
import { inconsistencies } from '../support/consistency'
import { mulberry32 } from '../support/random'
import { receiver, stopReceivers } from '../support/receiver'

// Frequent complaints about other webhook senders that need a killed process to test: a queue that loses its place,
// and attempts missing from the log.

const kills = Number(process.env.BAILIWICK_TEST_WEBHOOK_KILLS ?? 5)
const seed = Number(process.env.BAILIWICK_TEST_KILL_SEED ?? crypto.getRandomValues(new Uint32Array(1))[0])
const [beats, flaps] = [20, 50]
const expected = beats * flaps * 2
// Maximum attempts in flight per endpoint.
const inFlight = 8

afterAll(stopReceivers)

test(`${expected} deliveries survive ${kills} kills: none lost or stuck, few duplicates, every attempt in the log`, async () => {
  process.stdout.write(`seed ${seed} (BAILIWICK_TEST_KILL_SEED)\n`)
  const random = mulberry32(seed)
  await using here = await installation()
  const seen = receiver()
  seen.answer = async () => {
    await Bun.sleep(20)
    return new Response()
  }
  let hub = await startHub(here)
  await using _ = {
    async [Symbol.asyncDispose]() {
      await hub.stop('SIGKILL')
    },
  }
  const token = await fullToken(here)
  const created = await call(hub, token, 'POST', '/v1/webhook-endpoints', {
    url: seen.url,
    events: ['monitor.alert', 'monitor.recovered'],
    active: false,
  })
  expect(created.status).toBe(201)
  const schedule = { kind: 'period', period_seconds: 86_400, grace_seconds: 3_600 }
  await Promise.all(
    Array.from({ length: beats }, async (_, n) => {
      const { uuid } = (await call(hub, token, 'POST', '/v1/heartbeats', { name: `beat ${n}`, schedule })).body
      for (let flap = 0; flap < flaps; flap++) {
        for (const path of ['/fail', '']) expect((await fetch(`${hub.url}/ping/${uuid}${path}`)).status).toBe(200)
      }
    }),
  )
  await using rows = rowsOf(here)
  const one = async (query: string) => (await rows.all<{ n: number }>(query))[0]!.n
  const dispatched = async () => (await one('select count(*) as n from webhook_deliveries')) === expected
  // Also kills once while events are being dispatched.
  await hub.stop('SIGKILL')
  expect(await inconsistencies(rows)).toEqual([])
  hub = await startHub(here)
  await until('a delivery for every event', dispatched, 60_000)
  expect(seen.received).toEqual([])

  const activate = () => call(hub, token, 'PATCH', `/v1/webhook-endpoints/${created.body.id}`, { active: true })
  expect((await activate()).status).toBe(200)
  const interrupted = new Set<string>()
  for (let kill = 0; kill < kills; kill++) {
    const before = seen.received.length
    // On PostgreSQL, the jobs of a killed hub wait until it is considered dead; other jobs continue.
    await until('deliveries', async () => seen.received.length > before + 20, 120_000)
    await Bun.sleep(random() * 400)
    await hub.stop('SIGKILL')
    // On PostgreSQL, also those of earlier hubs that are not considered dead yet.
    const open = await rows.all(`select id, attempt_count + 1 as number from webhook_deliveries where status = 'in_flight'`)
    for (const { id, number } of open) interrupted.add(`${id} ${number}`)
    expect(await inconsistencies(rows)).toEqual([])
    hub = await startHub(here)
  }
  const open = "select count(*) as n from webhook_deliveries where status <> 'delivered'"
  await until('the queue empty', async () => (await one('select count(*) as n from jobs')) === 0, 90_000)
  expect(await one(open)).toBe(0)

  const sent = Map.groupBy(seen.received, message => message.headers.get('webhook-id')!)
  expect(sent.size).toBe(expected)
  const twice = seen.received.length - sent.size
  expect(twice).toBeLessThanOrEqual(kills * inFlight)
  expect(interrupted.size).toBeLessThanOrEqual(kills * inFlight)
  // Every received message is in the log with its attempt number, and so is every attempt interrupted by a kill.
  const logged = new Set(
    (await rows.all<{ delivery: string; number: number }>('select delivery_id as delivery, number from webhook_attempts')).map(
      ({ delivery, number }) => `${delivery} ${number}`,
    ),
  )
  const unlogged = seen.received.filter(
    ({ headers }) => !logged.has(`${headers.get('x-service-delivery')} ${headers.get('x-service-attempt')}`),
  )
  expect(unlogged).toEqual([])
  expect([...interrupted].filter(one => !logged.has(one))).toEqual([])
  expect(await one('select count(*) as n from webhook_deliveries where attempt_count = 0')).toBe(0)
  expect(await inconsistencies(rows)).toEqual([])
  expect(await hub.stop()).toBe(0)
  process.stdout.write(
    `${expected} deliveries, ${kills} kills, ${interrupted.size} attempts interrupted, ${twice} messages sent twice\n`,
  )
}, 240_000)
