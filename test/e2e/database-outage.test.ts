import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { openSeries } from '../../src/core/db/series'
import {
  call,
  fullToken,
  installation,
  startHub,
  startProgram,
  until,
  type HubProcess,
  type Installation,
} from '../support/binary'
import { inconsistencies, unfinishedWork } from '../support/consistency'
import { rowsOf, type Rows } from '../support/database'
import { startPostgres, type TemporaryPostgres } from '../support/postgres'
import { RawHttpClient } from '../support/raw-http-client'
import { receiver, stopReceivers } from '../support/receiver'
import { Traffic } from '../support/traffic'

const onPostgres = Boolean(process.env.BAILIWICK_DATABASE_URL)
const rates = { pings: 150, flaps: 10, creates: 10, heartbeatUpdates: 10, endpointUpdates: 5 }

afterAll(stopReceivers)

describe.skipIf(!onPostgres)('while PostgreSQL is unavailable', () => {
  let server: TemporaryPostgres
  let here: Installation
  beforeAll(async () => {
    server = await startPostgres({ survivesKill: true })
    here = await installation(server.url)
  })
  afterAll(async () => {
    await here?.[Symbol.asyncDispose]()
    await server?.stop()
  })

  test('requests get 503, nothing acknowledged is lost, and hubs recover by themselves', async () => {
    await using first = await startHub(here)
    await using second = await startHub(here)
    const token = await fullToken(here)
    const seen = receiver()
    // Monitors check the receiver too.
    const messages = () => seen.received.flatMap(one => one.headers.get('webhook-id') ?? [])
    const traffic = new Traffic(new RawHttpClient(Number(new URL(first.url).port)), token, true)
    await traffic.prepare({ steady: 30, flapping: 10, updated: 10, endpoints: [{ url: seen.url, events: ['monitor.alert'] }] })
    const { uuid } = traffic.steady[0]!
    await using rows = rowsOf(here)
    seen.answer = async () => {
      await Bun.sleep(1000)
      return new Response(null, { status: 204 })
    }
    for (let n = 0; n < 4; n++) {
      const monitor = { type: 'http', name: `monitor ${n}`, target: seen.url, interval_seconds: 5, options: { method: 'GET' } }
      expect((await call(first, token, 'POST', '/v1/monitors', monitor)).status).toBe(201)
    }
    const stream = await streamed(first, token)
    const longPoll = fetch(`${second.url}/v1/events?after=latest`, {
      headers: { authorization: `Bearer ${token}`, prefer: 'wait=20' },
    })
    traffic.resume(Number(new URL(first.url).port), rates)
    await until('messages in flight', async () => messages().length > 5)

    await server.kill('SIGQUIT')
    await Bun.sleep(500)
    for (const hub of [first, second]) {
      for (const [method, path, body] of [
        ['GET', '/v1/heartbeats'],
        ['POST', '/v1/heartbeats', { name: 'x', schedule: { kind: 'period', period_seconds: 60, grace_seconds: 60 } }],
        ['GET', `/ping/${uuid}`],
        ['POST', `/v1/ingest/heartbeats/${uuid}`],
        ['POST', '/v1/sessions', { email: 'someone@example.com', password: 'a password that is long enough' }],
      ] as const) {
        const response = await call(hub, path === '/v1/sessions' ? '' : token, method, path, body)
        expect([method, path, response.status, response.body.code]).toEqual([method, path, 503, 'database_unavailable'])
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
      }
      expect((await fetch(`${hub.url}/healthz`)).status).toBe(200)
      const ready = await call(hub, '', 'GET', '/readyz')
      expect([ready.status, ready.body.checks.database.status]).toEqual([503, 'failing'])
    }
    await Bun.sleep(2000)
    server.restart()
    await isBack(first, second, token)
    await listening(rows, 2)
    await Bun.sleep(1000)

    // A restart under load.
    await server.kill('SIGINT')
    server.restart()
    await isBack(first, second, token)
    await Bun.sleep(1000)

    traffic.pause()
    await traffic.settle(10_000)
    const schedule = { kind: 'period', period_seconds: 60, grace_seconds: 60 }
    const { body: created } = await call(second, token, 'POST', '/v1/heartbeats', { name: 'after the outage', schedule })
    await until('the change in the stream', async () => stream.text.includes(created.id))
    expect([200, 503]).toContain((await longPoll).status)
    expect(traffic.refused).toBeGreaterThan(0)
    process.stdout.write(`${traffic.acknowledged.pings} pings and ${traffic.acknowledged.writes} writes acknowledged, `)
    process.stdout.write(`${traffic.refused} requests refused\n`)
    expect(traffic.unexpected).toEqual([])
    expect(await traffic.lost(rows)).toEqual([])
    await until('the queue empty', async () => (await rows.all('select 1 from jobs')).length === 0)
    expect(await inconsistencies(rows)).toEqual([])
    expect(await unfinishedWork(rows)).toEqual([])
    expect(messages().length).toBe(new Set(messages()).size)
    await until('a check of each monitor', async () => {
      const unchecked = await rows.all(`select 1 from monitors where status = 'new'`)
      return unchecked.length === 0
    })
    expect(await rows.all('select distinct status from monitors')).toEqual([{ status: 'up' }])
    expect(await rows.all(`select id from events where resource_type = 'monitor'`)).toEqual([])
    for (const hub of [first, second]) {
      const lines = hub
        .err()
        .split('\n')
        .filter(line => line.startsWith('{'))
      const logged = lines.map(line => (JSON.parse(line) as { msg: string }).msg)
      expect(logged).toContain('the database is unavailable; retrying')
      expect(logged).toContain('the database is available again')
      expect(logged.length).toBeLessThan(20)
    }
  }, 180_000)

  test('requests get 503 too if it does not answer, and open connections are replaced', async () => {
    await using hub = await startHub(here)
    const token = await fullToken(here)
    const list = () => call(hub, token, 'GET', '/v1/heartbeats')
    expect((await list()).status).toBe(200)
    server.freeze()
    const startedAt = performance.now()
    for (const response of await Promise.all([
      list(),
      list(),
      call(hub, token, 'POST', '/v1/tokens', { name: 'x', mode: 'full' }),
    ]))
      expect([response.status, response.body.code]).toEqual([503, 'database_unavailable'])
    process.stdout.write(`refused after ${Math.round(performance.now() - startedAt)} ms without an answer\n`)
    server.thaw()
    await until('the hub ready', async () => (await fetch(`${hub.url}/readyz`)).status === 200)
    expect((await list()).status).toBe(200)
    await using rows = rowsOf(here)
    await listening(rows, 1)
  }, 180_000)

  test('connections for check results are replaced too', async () => {
    const proxy = silencedProxy(server.url)
    const store = openSeries({ data: tmpdir(), databaseUrl: proxy.url, now: Date.now }, [])
    try {
      expect(await store.size()).toBeNumber()
      proxy.silence(true)
      expect(await store.size().catch(() => 'failed')).toBe('failed')
      proxy.silence(false)
      await until('new connections', async () => (await store.size().catch(() => null)) !== null)
    } finally {
      await store.close()
      proxy.stop()
    }
  }, 180_000)

  test('a hub that is started waits for it, and commands fail', async () => {
    await server.kill('SIGINT')
    const waiting = 'waiting for the database'
    const stopped = startProgram('bailiwick', ['serve', '--listen', '127.0.0.1:0'], { env: here.env, cwd: tmpdir() })
    const starting = startHub(here)
    const command = await here.run(['token', 'create', '--name', 'test', '--full'])
    expect([command.code, command.out]).toEqual([1, ''])
    expect(command.err).toStartWith('The database is unavailable: ')
    await until('the wait', async () => stopped.output.err.includes(waiting))
    expect(await stopped.stop('SIGTERM')).toBe(0)
    await Bun.sleep(1500)
    server.restart()
    await using hub = await starting
    expect(hub.err().split(waiting)).toHaveLength(2)
    expect((await fetch(`${hub.url}/readyz`)).status).toBe(200)
  }, 180_000)
})

/** A proxy that can be silenced, like a network failure: connections from before and during that time stay open, but are useless. */
function silencedProxy(url: string): { url: string; silence(silent: boolean): void; stop(): void } {
  const target = new URL(url)
  const open = new Set<{ silent: boolean }>()
  let isSilent = false
  const proxy = createServer(client => {
    const state = { silent: isSilent }
    open.add(state)
    const server = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('data', octets => void (state.silent || to.write(octets)))
      from.on('error', () => {}).on('close', () => to.destroy())
    }
  })
  proxy.listen(0, '127.0.0.1')
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String((proxy.address() as AddressInfo).port)
  return {
    url: through.href,
    silence(silent) {
      isSilent = silent
      if (silent) for (const state of open) state.silent = true
    },
    stop: () => void proxy.close(),
  }
}

/** Opens a stream of changes and collects what it sends. */
async function streamed(hub: HubProcess, token: string): Promise<{ text: string }> {
  const response = await fetch(`${hub.url}/v1/stream`, { headers: { authorization: `Bearer ${token}` } })
  expect(response.status).toBe(200)
  const stream = { text: '' }
  const collect = async () => {
    const decoder = new TextDecoder()
    for await (const part of response.body!) stream.text += decoder.decode(part, { stream: true })
  }
  void collect().catch(() => {})
  return stream
}

/** Waits until the hubs respond to reads and writes again. */
async function isBack(first: HubProcess, second: HubProcess, token: string): Promise<void> {
  const startedAt = performance.now()
  for (const hub of [first, second]) {
    await until('the hub ready', async () => (await fetch(`${hub.url}/readyz`)).status === 200)
    expect((await call(hub, token, 'GET', '/v1/heartbeats')).status).toBe(200)
  }
  process.stdout.write(`available again after ${Math.round(performance.now() - startedAt)} ms\n`)
}

/** Waits until all hubs listen for notifications again. */
const listening = (rows: Rows, hubs: number) =>
  until('all listening', async () => {
    const [{ n }] = (await rows.all<{ n: number }>(
      `select count(*) as n from pg_stat_activity where query like 'LISTEN%' and datname = current_database()`,
    )) as [{ n: number }]
    return n === hubs
  })
