import { afterAll, describe, expect, test } from 'bun:test'
import { call, fullToken, installation, startHub, until, type HubProcess, type Installation } from '../support/binary'
import { rowsOf, type Rows } from '../support/database'
import { leftUndone } from '../support/half-written'
import { receiver, stopReceivers, type Received } from '../support/receiver'
import { Wire } from '../support/wire'

// Several hubs share one PostgreSQL database and one master key; SQLite has one hub at a time.
const onPostgres = Boolean(process.env.BAILIWICK_DATABASE_URL)
// A hub that was killed is taken for dead 15 s after its last sign of life, and its jobs are looked for each 5 s.
const takeOverMs = 30_000
// What one hub has in flight to one endpoint at most.
const mostInFlight = 8
const soon = { kind: 'period', period_seconds: 5, grace_seconds: 1 }

afterAll(stopReceivers)

describe.skipIf(!onPostgres)('three hubs on one database', () => {
  test('share the jobs', async () => {
    await using here = await trio()
    const { hubs, token, rows } = here
    const seen = receiver()
    let inFlight = 0
    let most = 0
    seen.answer = async () => {
      most = Math.max(most, ++inFlight)
      await Bun.sleep(200)
      inFlight--
      return new Response(null, { status: 204 })
    }
    await call(hubs[0]!, token, 'POST', '/v1/webhook-endpoints', { url: seen.url, events: ['monitor.alert'] })
    const beats = await makeHeartbeats(here, 120, { kind: 'period', period_seconds: 3600, grace_seconds: 60 })
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
      30_000,
    )
    expect([...holders].sort()).toEqual(hubs.map(hub => hub.id).sort())
    expect(most).toBeGreaterThan(mostInFlight)
    expect(most).toBeLessThanOrEqual(3 * mostInFlight)
    expect(copiesOf(seen.received)).toEqual(Array.from(beats, () => 1))
    expect(await leftUndone(rows)).toEqual([])
  }, 60_000)

  test('raise each of 200 alerts that fall due at once exactly once', async () => {
    await using here = await trio()
    const seen = receiver()
    const beats = await fallDueTogether(here, 200, seen.url)
    await until('every alert', async () => seen.received.length >= beats.length, 20_000)
    await until('the queue empty', async () => (await here.rows.all('select 1 from jobs')).length === 0)
    expect(await alertsOf(here.rows)).toEqual(beats.map(({ id }) => ({ id, events: 1, deliveries: 1, flips: 1 })))
    expect(copiesOf(seen.received)).toEqual(Array.from(beats, () => 1))
    expect(await leftUndone(here.rows)).toEqual([])
  }, 60_000)

  test('raise each of 200 alerts exactly once while one of them is killed', async () => {
    await using here = await trio()
    const seen = receiver()
    seen.answer = async () => {
      await Bun.sleep(50)
      return new Response(null, { status: 204 })
    }
    const beats = await fallDueTogether(here, 200, seen.url)
    await until('the first alerts', async () => seen.received.length >= 20, 20_000)
    await here.hubs[1]!.stop('SIGKILL')
    // Not all fall due in the same instant: between two of them the queue may be empty.
    await until('every alert', async () => copiesOf(seen.received).length >= beats.length, takeOverMs)
    await until('the queue empty', async () => (await here.rows.all('select 1 from jobs')).length === 0, takeOverMs)
    expect(await alertsOf(here.rows)).toEqual(beats.map(({ id }) => ({ id, events: 1, deliveries: 1, flips: 1 })))
    const copies = copiesOf(seen.received)
    expect(copies).toHaveLength(beats.length)
    // Twice goes only what the killed hub had in flight.
    expect(copies.filter(n => n > 2)).toEqual([])
    expect(copies.filter(n => n === 2).length).toBeLessThanOrEqual(mostInFlight)
    expect(await leftUndone(here.rows)).toEqual([])
  }, 90_000)

  test('deliver what one of them had in flight when it was killed', async () => {
    await using here = await trio()
    const { hubs, token, rows } = here
    const seen = receiver()
    const held = Promise.withResolvers<Response>()
    seen.answer = () => (seen.received.length === 1 ? held.promise : new Response(null, { status: 204 }))
    await call(hubs[0]!, token, 'POST', '/v1/webhook-endpoints', { url: seen.url, events: ['monitor.alert'] })
    const [beat] = await makeHeartbeats(here, 1, { kind: 'period', period_seconds: 3600, grace_seconds: 60 })
    await fetch(`${hubs[0]!.url}/ping/${beat!.uuid}/fail`)
    await until('the message in flight', async () => seen.received.length === 1)
    const [job] = await rows.all<{ holder: string }>(`
      select locked_by as holder from jobs where state = 'running' and kind = 'webhooks.deliver'`)
    const killedAt = performance.now()
    await hubs.find(hub => hub.id === job!.holder)!.stop('SIGKILL')
    await until('the message again', async () => seen.received.length === 2, takeOverMs)
    process.stdout.write(`taken over after ${Math.round(performance.now() - killedAt)} ms\n`)
    held.resolve(new Response(null, { status: 204 }))
    await until('the queue empty', async () => (await rows.all('select 1 from jobs')).length === 0)
    const copies = seen.received.map(({ headers, body }) => [headers.get('webhook-id'), headers.get('x-service-delivery'), body])
    expect(copies[1]).toEqual(copies[0])
    const deliveries = await rows.all('select status, attempt_count as attempts from webhook_deliveries')
    // The one that was cut off is in the log too.
    expect(deliveries).toEqual([{ status: 'delivered', attempts: 2 }])
    expect(await leftUndone(rows)).toEqual([])
  }, 60_000)

  test('refuse a token within a second of one of them revoking it', async () => {
    await using here = await trio()
    const { hubs, token } = here
    const made = (await call(hubs[0]!, token, 'POST', '/v1/tokens', { name: 'short-lived', mode: 'read_only' })).body
    const tried = () => Promise.all(hubs.map(hub => call(hub, made.token, 'GET', '/v1/heartbeats')))
    expect((await tried()).map(answer => answer.status)).toEqual([200, 200, 200])
    expect((await call(hubs[0]!, token, 'DELETE', `/v1/tokens/${made.id}`)).status).toBe(204)
    const revokedAt = performance.now()
    expect((await call(hubs[0]!, made.token, 'GET', '/v1/heartbeats')).status).toBe(401)
    await until('the refusal by all', async () => (await tried()).every(answer => answer.status === 401), 3000)
    // The look itself is counted in.
    expect(performance.now() - revokedAt).toBeLessThan(1250)
    expect((await tried()).map(answer => answer.body.code)).toEqual(['token_revoked', 'token_revoked', 'token_revoked'])
  }, 30_000)

  test('know of pings that another one took', async () => {
    await using here = await trio()
    const { hubs, token, rows } = here
    const seen = receiver()
    const events = ['monitor.alert', 'monitor.recovered']
    expect((await call(hubs[2]!, token, 'POST', '/v1/webhook-endpoints', { url: seen.url, events })).status).toBe(201)
    const { id, uuid } = (await call(hubs[0]!, token, 'POST', '/v1/heartbeats', { name: 'wanderer', schedule: soon })).body
    // The first ping sets the alarm of the first hub; all that follow come elsewhere.
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
    await until('the alert once it is left alone', async () => seen.received.length === 1, 8000)
    await ping(2)
    await until('the recovery', async () => seen.received.length === 2)
    await Bun.sleep(500)
    expect(seen.received.map(one => one.headers.get('x-service-event'))).toEqual(events)
    expect(await leftUndone(rows)).toEqual([])
  }, 60_000)

  test('give a creation under one key to one of them, whichever is asked', async () => {
    await using here = await trio()
    const { hubs, token, rows } = here
    const wires = hubs.map(hub => new Wire(Number(new URL(hub.url).port)))
    const create = (at: number, key: string) =>
      wires[at % 3]!.ask(
        'POST',
        '/v1/heartbeats',
        {
          Authorization: `Bearer ${token}`,
          'Idempotency-Key': key,
        },
        { name: key, schedule: soon },
      )
    const keys = Array.from({ length: 30 }, (_, n) => `key-${n}`)
    const answers = await Promise.all(keys.map(key => Promise.all([0, 1, 2].map(at => create(at, key)))))
    for (const three of answers) {
      const made = three.filter(one => one.status === 201)
      expect(made.length).toBeGreaterThan(0)
      expect(new Set(made.map(one => JSON.parse(one.body).id)).size).toBe(1)
      const others = three.filter(one => one.status !== 201).map(one => JSON.parse(one.body).code)
      expect(others.filter(code => code !== 'idempotency_in_progress')).toEqual([])
    }
    const [{ n }] = (await rows.all<{ n: number }>('select count(*) as n from heartbeats')) as [{ n: number }]
    expect(n).toBe(keys.length)
    expect((await create(2, 'key-0')).head).toContain('Idempotent-Replayed: true')
    for (const wire of wires) wire.close()
  }, 30_000)
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
  const entered = async () => (await rows.all<{ id: string }>('select id from hubs')).map(row => row.id)
  for (let n = 0; n < 3; n++) {
    const before = await entered()
    const hub = await startHub(here)
    hubs.push({ ...hub, id: (await entered()).find(id => !before.includes(id))! })
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

/** Heartbeats made on all three in turns, in the order of their ids. */
async function makeHeartbeats({ hubs, token }: Trio, count: number, schedule: object): Promise<{ id: string; uuid: string }[]> {
  const make = (at: number) => call(hubs[at % 3]!, token, 'POST', '/v1/heartbeats', { name: `job ${at}`, schedule })
  const made = await Promise.all(Array.from({ length: count }, (_, at) => make(at)))
  return made.map(answer => answer.body as { id: string; uuid: string }).sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Heartbeats that are pinged in the same moment, on all three in turns, and then left alone. */
async function fallDueTogether(of: Trio, count: number, url: string): Promise<{ id: string; uuid: string }[]> {
  const endpoint = await call(of.hubs[0]!, of.token, 'POST', '/v1/webhook-endpoints', { url, events: ['monitor.alert'] })
  expect(endpoint.status).toBe(201)
  const beats = await makeHeartbeats(of, count, soon)
  const pings = await Promise.all(beats.map(({ uuid }, at) => fetch(`${of.hubs[at % 3]!.url}/ping/${uuid}`)))
  expect(pings.filter(answer => answer.status !== 200)).toEqual([])
  return beats
}

/** Events, deliveries and changes to down of each heartbeat. */
const alertsOf = (rows: Rows) =>
  rows.all(`
  select id, (select count(*) from events where resource_id = heartbeats.id) as events,
  (select count(*) from webhook_deliveries where resource_id = heartbeats.id) as deliveries,
  (select count(*) from flips where heartbeat_id = heartbeats.id and to_status = 'down') as flips from heartbeats order by id`)

/** How often each message was received. */
const copiesOf = (received: Received[]): number[] =>
  [...Map.groupBy(received, one => one.headers.get('webhook-id')).values()].map(copies => copies.length)
