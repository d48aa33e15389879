import { afterAll, expect, test } from 'bun:test'
import { call, fullToken, installation, startHub, until } from '../support/binary'
import { rowsOf } from '../support/database'
import { halfWritten } from '../support/half-written'
import { mulberry32 } from '../support/random'
import { receiver, stopReceivers } from '../support/receiver'

// What users of other webhook senders ask for most and only a killed program can answer: a queue that loses its place (svix
// #1844, #1511; convoy #1977; outpost #615; open-wearables #1111), and tries that are lost from the log (outpost #1000).

const kills = Number(process.env.BAILIWICK_TEST_WEBHOOK_KILLS ?? 5)
const seed = Number(process.env.BAILIWICK_TEST_KILL_SEED ?? crypto.getRandomValues(new Uint32Array(1))[0])
const [beats, flaps] = [20, 50]
const expected = beats * flaps * 2
// The tries that one endpoint may have in flight.
const inFlight = 8

afterAll(stopReceivers)

test(`${expected} deliveries get through ${kills} kills: none lost, none in limbo, few twice, every try in the log`, async () => {
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
  const made = await call(hub, token, 'POST', '/v1/webhook-endpoints', {
    url: seen.url,
    events: ['monitor.alert', 'monitor.recovered'],
    active: false,
  })
  expect(made.status).toBe(201)
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
  // Killed once while events become deliveries, too.
  await hub.stop('SIGKILL')
  expect(await halfWritten(rows)).toEqual([])
  hub = await startHub(here)
  await until('a delivery for every event', dispatched, 60_000)
  expect(seen.received).toEqual([])

  const activate = () => call(hub, token, 'PATCH', `/v1/webhook-endpoints/${made.body.id}`, { active: true })
  expect((await activate()).status).toBe(200)
  const cutOff = new Set<string>()
  for (let kill = 0; kill < kills; kill++) {
    const before = seen.received.length
    // On PostgreSQL the jobs of a killed hub wait until it is taken for dead; there is more to do meanwhile.
    await until('deliveries', async () => seen.received.length > before + 20, 30_000)
    await Bun.sleep(random() * 400)
    await hub.stop('SIGKILL')
    // On PostgreSQL also those of earlier hubs that are not taken for dead yet.
    const open = await rows.all(`select id, attempt_count + 1 as number from webhook_deliveries where status = 'in_flight'`)
    for (const { id, number } of open) cutOff.add(`${id} ${number}`)
    expect(await halfWritten(rows)).toEqual([])
    hub = await startHub(here)
  }
  const open = "select count(*) as n from webhook_deliveries where status <> 'delivered'"
  await until('the queue empty', async () => (await one('select count(*) as n from jobs')) === 0, 90_000)
  expect(await one(open)).toBe(0)

  const sent = Map.groupBy(seen.received, message => message.headers.get('webhook-id')!)
  expect(sent.size).toBe(expected)
  const twice = seen.received.length - sent.size
  expect(twice).toBeLessThanOrEqual(kills * inFlight)
  expect(cutOff.size).toBeLessThanOrEqual(kills * inFlight)
  // Whatever arrived is in the log under the number that it arrived with, and so is each try that a kill cut off.
  const logged = new Set(
    (await rows.all<{ delivery: string; number: number }>('select delivery_id as delivery, number from webhook_attempts')).map(
      ({ delivery, number }) => `${delivery} ${number}`,
    ),
  )
  const unlogged = seen.received.filter(
    ({ headers }) => !logged.has(`${headers.get('x-service-delivery')} ${headers.get('x-service-attempt')}`),
  )
  expect(unlogged).toEqual([])
  expect([...cutOff].filter(one => !logged.has(one))).toEqual([])
  expect(await one('select count(*) as n from webhook_deliveries where attempt_count = 0')).toBe(0)
  expect(await halfWritten(rows)).toEqual([])
  expect(await hub.stop()).toBe(0)
  process.stdout.write(`${expected} deliveries, ${kills} kills, ${cutOff.size} tries cut off, ${twice} messages sent twice\n`)
}, 240_000)
