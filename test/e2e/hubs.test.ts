import { afterAll, describe, expect, test } from 'bun:test'
import { call, fullToken, installation, startHub, until, type HubProcess, type Installation } from '../support/binary'
import { rowsOf, type Rows } from '../support/database'
import { unfinishedWork } from '../support/consistency'
import { receiver, stopReceivers, type Received } from '../support/receiver'
import { RawHttpClient } from '../support/raw-http-client'

// Multiple hubs can share one PostgreSQL database and master key. SQLite supports one hub at a time.
const onPostgres = Boolean(process.env.BAILIWICK_DATABASE_URL)
// A hub counts as dead 6 s after its last sign of life, and its jobs are released every 2 s. Its monitors have the same times.
const takeOverMs = 10_000
// For what doesn't have to happen within a certain time.
const settleMs = 120_000
// Deliveries that one hub sends to an endpoint at the same time.
const maxInFlight = 8
const shortSchedule = { kind: 'period', period_seconds: 5, grace_seconds: 1 }

afterAll(stopReceivers)

describe.skipIf(!onPostgres)('several hubs on one database', () => {
  test('share the jobs', async () => {
    await using here = await trio()
    const { hubs, token, rows } = here
    const seen = receiver()
    let inFlight = 0
    let peak = 0
    seen.answer = async () => {
      peak = Math.max(peak, ++inFlight)
      await Bun.sleep(200)
      inFlight--
      return new Response(null, { status: 204 })
    }
    await call(hubs[0]!, token, 'POST', '/v1/webhook-endpoints', { url: seen.url, events: ['monitor.alert'] })
    const beats = await createHeartbeats(here, 120, { kind: 'period', period_seconds: 3600, grace_seconds: 60 })
    await Promise.all(beats.map(({ uuid }, at) => fetch(`${hubs[at % 3]!.url}/ping/${uuid}/fail`)))
    const holders = new Set<string>()
    await until(
      'every alert delivered',
      async () => {
        const running = await rows.all<{ holder: string }>(
          `select distinct locked_by as holder from jobs where state = 'running'`,
        )
        for (const { holder } of running) holders.add(holder)
        return (await rows.all(`select 1 from webhook_deliveries where status = 'delivered'`)).length === beats.length
      },
      180_000,
    )
    expect([...holders].sort()).toEqual(hubs.map(hub => hub.id).sort())
    expect(peak).toBeGreaterThan(maxInFlight)
    expect(peak).toBeLessThanOrEqual(3 * maxInFlight)
    expect(copiesOf(seen.received)).toEqual(Array.from(beats, () => 1))
    expect(await unfinishedWork(rows)).toEqual([])
  }, 180_000)

  test('send each of 200 alerts that become due at once exactly once', async () => {
    await using here = await trio()
    const seen = receiver()
    const beats = await heartbeatsDueTogether(here, 200, seen.url)
    await until('every alert', async () => seen.received.length >= beats.length)
    await until('the queue empty', async () => (await here.rows.all('select 1 from jobs')).length === 0)
    expect(await alertsOf(here.rows)).toEqual(beats.map(({ id }) => ({ id, events: 1, deliveries: 1, flips: 1 })))
    expect(copiesOf(seen.received)).toEqual(Array.from(beats, () => 1))
    expect(await unfinishedWork(here.rows)).toEqual([])
  }, 180_000)

  // The following tests mostly wait, for pings to be due and for hubs to count as dead, so they run at the same time.
  test.concurrent(
    'send each of 200 alerts exactly once while one of them is killed',
    async () => {
      await using here = await trio()
      const seen = receiver()
      seen.answer = async () => {
        await Bun.sleep(50)
        return new Response(null, { status: 204 })
      }
      const beats = await heartbeatsDueTogether(here, 200, seen.url)
      await until('the first alerts', async () => seen.received.length >= 20)
      await here.hubs[1]!.stop('SIGKILL')
      // The alerts are not due at exactly the same time: the queue may be empty in between.
      await until('every alert', async () => copiesOf(seen.received).length >= beats.length, takeOverMs)
      await until('the queue empty', async () => (await here.rows.all('select 1 from jobs')).length === 0, settleMs)
      expect(await alertsOf(here.rows)).toEqual(beats.map(({ id }) => ({ id, events: 1, deliveries: 1, flips: 1 })))
      const copies = copiesOf(seen.received)
      expect(copies).toHaveLength(beats.length)
      // Only messages that the killed hub had in flight are sent twice.
      expect(copies.filter(n => n > 2)).toEqual([])
      expect(copies.filter(n => n === 2).length).toBeLessThanOrEqual(maxInFlight)
      expect(await unfinishedWork(here.rows)).toEqual([])
    },
    180_000,
  )

  test.concurrent(
    'deliver messages that one of them had in flight when it was killed',
    async () => {
      await using here = await trio()
      const { hubs, token, rows } = here
      const seen = receiver()
      const delayed = Promise.withResolvers<Response>()
      seen.answer = () => (seen.received.length === 1 ? delayed.promise : new Response(null, { status: 204 }))
      await call(hubs[0]!, token, 'POST', '/v1/webhook-endpoints', { url: seen.url, events: ['monitor.alert'] })
      const [beat] = await createHeartbeats(here, 1, { kind: 'period', period_seconds: 3600, grace_seconds: 60 })
      await fetch(`${hubs[0]!.url}/ping/${beat!.uuid}/fail`)
      await until('the message in flight', async () => seen.received.length === 1)
      const [job] = await rows.all<{ holder: string }>(`
      select locked_by as holder from jobs where state = 'running' and kind = 'webhooks.deliver'`)
      const killedAt = performance.now()
      await hubs.find(hub => hub.id === job!.holder)!.stop('SIGKILL')
      await until('the message again', async () => seen.received.length === 2, takeOverMs)
      process.stdout.write(`redelivered after ${Math.round(performance.now() - killedAt)} ms\n`)
      delayed.resolve(new Response(null, { status: 204 }))
      await until('the queue empty', async () => (await rows.all('select 1 from jobs')).length === 0)
      const copies = seen.received.map(({ headers, body }) => [
        headers.get('webhook-id'),
        headers.get('x-service-delivery'),
        body,
      ])
      expect(copies[1]).toEqual(copies[0])
      const deliveries = await rows.all('select status, attempt_count as attempts from webhook_deliveries')
      // The interrupted attempt is in the log too.
      expect(deliveries).toEqual([{ status: 'delivered', attempts: 2 }])
      expect(await unfinishedWork(rows)).toEqual([])
    },
    180_000,
  )

  test.concurrent(
    'know about pings that another one received',
    async () => {
      await using here = await trio()
      const { hubs, token, rows } = here
      const seen = receiver()
      const events = ['monitor.alert', 'monitor.recovered']
      expect((await call(hubs[2]!, token, 'POST', '/v1/webhook-endpoints', { url: seen.url, events })).status).toBe(201)
      const { id, uuid } = (await call(hubs[0]!, token, 'POST', '/v1/heartbeats', { name: 'wanderer', schedule: shortSchedule }))
        .body
      // The first ping sets the timer of the first hub. The following pings go to the others.
      const ping = async (at: number) => {
        expect((await fetch(`${hubs[at]!.url}/ping/${uuid}`)).status).toBe(200)
      }
      await ping(0)
      for (let n = 0; n < 7; n++) {
        await Bun.sleep(2000)
        await ping(1 + (n % 2))
      }
      for (const hub of hubs) {
        expect((await call(hub, token, 'GET', `/v1/heartbeats/${id}`)).body).toMatchObject({ status: 'up', ping_count: 8 })
      }
      expect(await rows.all('select reason from flips')).toEqual([{ reason: 'ping' }])
      expect(seen.received).toEqual([])
      await until('the alert after the last ping', async () => seen.received.length === 1, 8000)
      await ping(2)
      await until('the recovery', async () => seen.received.length === 2)
      await Bun.sleep(500)
      expect(seen.received.map(one => one.headers.get('x-service-event'))).toEqual(events)
      expect(await unfinishedWork(rows)).toEqual([])
    },
    180_000,
  )

  test.concurrent(
    'share the monitors, and adopt those of a killed hub without an alert',
    async () => {
      await using here = await installation()
      await using target = server()
      await using staying = await startHub(here)
      await using dying = await startHub(here)
      await using rows = rowsOf(here)
      const token = await fullToken(here)
      const ids: string[] = []
      for (let n = 0; n < 24; n++) {
        const created = await call(staying, token, 'POST', '/v1/monitors', {
          type: 'http',
          name: `monitor ${n}`,
          target: `${target.url}${n}`,
          interval_seconds: 5,
        })
        expect(created.status).toBe(201)
        ids.push(created.body.id)
      }
      const holders = async () =>
        (await rows.all<{ hub: string }>('select distinct hub_id as hub from monitor_shares')).map(row => row.hub)
      await until('both with shares', async () => (await holders()).length === 2, settleMs)
      const statuses = async () =>
        (await rows.all<{ status: string }>('select distinct status from monitors')).map(one => one.status).join()
      await until('all up', async () => (await statuses()) === 'up', settleMs)

      // A check can be requested from any hub; the one that runs the monitor performs it.
      for (const id of ids.slice(0, 6))
        for (const hub of [staying, dying]) {
          const found = await until('the check', async () => {
            const { status, body } = await call(hub, token, 'POST', `/v1/monitors/${id}/check`)
            // Retry while its share is being moved.
            return status === 202 ? null : { status, found: body.result.status }
          })
          expect(found).toEqual({ status: 200, found: 'up' })
        }

      await dying.stop('SIGKILL')
      const killedAt = performance.now()
      target.requested.clear()
      await until('every monitor checked again', async () => target.requested.size === ids.length, takeOverMs)
      process.stdout.write(`adopted after ${Math.round(performance.now() - killedAt)} ms\n`)
      await until('one holder', async () => (await holders()).length === 1, settleMs)
      expect(await statuses()).toBe('up')
      expect(await rows.all(`select kind from events where kind like 'monitor.%'`)).toEqual([])
      expect(await rows.all('select id from incidents')).toEqual([])
      // The time without checks is recorded.
      expect((await rows.all('select id from monitor_gaps')).length).toBeGreaterThan(0)

      // The remaining hub reports each failure once.
      await target.stop()
      await until(
        'every alert',
        async () => (await rows.all(`select id from events where kind = 'monitor.alert'`)).length === 24,
        settleMs,
      )
      await Bun.sleep(6000)
      expect(await rows.all(`select id from events where kind = 'monitor.alert'`)).toHaveLength(24)
      expect(await rows.all(`select id from incidents where status = 'open'`)).toHaveLength(24)
    },
    180_000,
  )

  test('reject a token within a second after one of them revoked it', async () => {
    await using here = await trio()
    const { hubs, token } = here
    const created = (await call(hubs[0]!, token, 'POST', '/v1/tokens', { name: 'short-lived', mode: 'read_only' })).body
    const responses = () => Promise.all(hubs.map(hub => call(hub, created.token, 'GET', '/v1/heartbeats')))
    expect((await responses()).map(response => response.status)).toEqual([200, 200, 200])
    expect((await call(hubs[0]!, token, 'DELETE', `/v1/tokens/${created.id}`)).status).toBe(204)
    const revokedAt = performance.now()
    expect((await call(hubs[0]!, created.token, 'GET', '/v1/heartbeats')).status).toBe(401)
    await until('all reject it', async () => (await responses()).every(response => response.status === 401), 3000)
    // Includes the time of the last requests.
    expect(performance.now() - revokedAt).toBeLessThan(1250)
    expect((await responses()).map(response => response.body.code)).toEqual(['token_revoked', 'token_revoked', 'token_revoked'])
  }, 180_000)

  test('create a resource only once for the same idempotency key, whichever of them gets the request', async () => {
    await using here = await trio()
    const { hubs, token, rows } = here
    const clients = hubs.map(hub => new RawHttpClient(Number(new URL(hub.url).port)))
    const create = (at: number, key: string) =>
      clients[at % 3]!.request(
        'POST',
        '/v1/heartbeats',
        {
          Authorization: `Bearer ${token}`,
          'Idempotency-Key': key,
        },
        { name: key, schedule: shortSchedule },
      )
    const keys = Array.from({ length: 30 }, (_, n) => `key-${n}`)
    const responses = await Promise.all(keys.map(key => Promise.all([0, 1, 2].map(at => create(at, key)))))
    for (const group of responses) {
      const created = group.filter(one => one.status === 201)
      expect(created.length).toBeGreaterThan(0)
      expect(new Set(created.map(one => JSON.parse(one.body).id)).size).toBe(1)
      const others = group.filter(one => one.status !== 201).map(one => JSON.parse(one.body).code)
      expect(others.filter(code => code !== 'idempotency_in_progress')).toEqual([])
    }
    const [{ n }] = (await rows.all<{ n: number }>('select count(*) as n from heartbeats')) as [{ n: number }]
    expect(n).toBe(keys.length)
    expect((await create(2, 'key-0')).head).toContain('Idempotent-Replayed: true')
    for (const client of clients) client.close()
  }, 180_000)
})

interface Trio extends AsyncDisposable {
  here: Installation
  hubs: (HubProcess & { id: string })[]
  token: string
  rows: Rows
}

async function trio(): Promise<Trio> {
  const here = await installation()
  const token = await fullToken(here)
  const rows = rowsOf(here)
  const hubs: Trio['hubs'] = []
  const registered = async () => (await rows.all<{ id: string }>('select id from hubs')).map(row => row.id)
  for (let n = 0; n < 3; n++) {
    const before = await registered()
    const hub = await startHub(here)
    hubs.push({ ...hub, id: (await registered()).find(id => !before.includes(id))! })
  }
  return {
    here,
    hubs,
    token,
    rows,
    async [Symbol.asyncDispose]() {
      await Promise.all(hubs.map(hub => hub.stop('SIGKILL')))
      await rows[Symbol.asyncDispose]()
      await here[Symbol.asyncDispose]()
    },
  }
}

/** Creates heartbeats on all three hubs in turn. Ordered by id. */
async function createHeartbeats({ hubs, token }: Trio, count: number, schedule: object): Promise<{ id: string; uuid: string }[]> {
  const create = (at: number) => call(hubs[at % 3]!, token, 'POST', '/v1/heartbeats', { name: `job ${at}`, schedule })
  const created = await Promise.all(Array.from({ length: count }, (_, at) => create(at)))
  return created.map(response => response.body as { id: string; uuid: string }).sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Creates heartbeats and pings them once at the same time, on all three hubs in turn. */
async function heartbeatsDueTogether(here: Trio, count: number, url: string): Promise<{ id: string; uuid: string }[]> {
  const { hubs, token } = here
  const endpoint = await call(hubs[0]!, token, 'POST', '/v1/webhook-endpoints', { url, events: ['monitor.alert'] })
  expect(endpoint.status).toBe(201)
  const beats = await createHeartbeats(here, count, shortSchedule)
  const pings = await Promise.all(beats.map(({ uuid }, at) => fetch(`${hubs[at % 3]!.url}/ping/${uuid}`)))
  expect(pings.filter(response => response.status !== 200)).toEqual([])
  return beats
}

/** Number of events, deliveries, and changes to down of each heartbeat. */
const alertsOf = (rows: Rows) =>
  rows.all(`
  select id, (select count(*) from events where resource_id = heartbeats.id) as events,
  (select count(*) from webhook_deliveries where resource_id = heartbeats.id) as deliveries,
  (select count(*) from flips where heartbeat_id = heartbeats.id and to_status = 'down') as flips from heartbeats order by id`)

/** Number of times that each message was received. */
const copiesOf = (received: Received[]): number[] =>
  [...Map.groupBy(received, one => one.headers.get('webhook-id')).values()].map(copies => copies.length)

/** Responds to everything with 200 and records the requested paths. */
function server() {
  const requested = new Set<string>()
  const run = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      requested.add(new URL(request.url).pathname)
      return new Response('ok')
    },
  })
  return {
    url: `http://127.0.0.1:${run.port}/`,
    requested,
    stop: () => run.stop(true),
    async [Symbol.asyncDispose]() {
      await run.stop(true)
    },
  }
}
