import { afterAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, fullToken, installation, startHub, until, type HubProcess } from '../support/binary'
import { rowsOf } from '../support/database'
import { inconsistencies } from '../support/consistency'
import { receiver, stopReceivers } from '../support/receiver'
import { Traffic } from '../support/traffic'
import { RawHttpClient } from '../support/raw-http-client'

const onPostgres = Boolean(process.env.BAILIWICK_DATABASE_URL)
const portOf = (hub: HubProcess): number => Number(new URL(hub.url).port)

afterAll(stopReceivers)

test('heartbeats that were due while no hub was running are postponed by that time', async () => {
  await using here = await installation()
  const seen = receiver()
  await using first = await startHub(here)
  const token = await fullToken(here)
  await call(first, token, 'POST', '/v1/webhook-endpoints', { url: seen.url, events: ['monitor.alert'] })
  const { id, uuid } = await heartbeat(first, token, 5, 1)
  expect((await fetch(`${first.url}/ping/${uuid}`)).status).toBe(200)
  const dueAt = Date.parse((await call(first, token, 'GET', `/v1/heartbeats/${id}`)).body.down_at)
  await Bun.sleep(1500)
  await first.stop('SIGKILL')
  const stoppedAt = Date.now()
  await Bun.sleep(8000)
  const restartedAt = Date.now()

  await using second = await startHub(here)
  const now = (await call(second, token, 'GET', `/v1/heartbeats/${id}`)).body
  expect(now.status).toBe('up')
  // The last sign of life was written up to a second before the hub was killed.
  const postponedMs = Date.parse(now.down_at) - dueAt
  expect(postponedMs).toBeGreaterThanOrEqual(restartedAt - stoppedAt)
  expect(postponedMs).toBeLessThan(Date.now() - stoppedAt + 2000)
  await until('the alert', async () => seen.received.length > 0)
  expect(Date.now()).toBeGreaterThanOrEqual(dueAt + postponedMs)
  expect(Date.now()).toBeLessThan(dueAt + postponedMs + 1000)
  const { body } = await call(second, token, 'GET', `/v1/heartbeats/${id}/flips`)
  expect(body.data.map((one: any) => [one.to, one.reason])).toEqual([
    ['down', 'late'],
    ['up', 'ping'],
  ])
}, 180_000)

test('a short restart postpones nothing', async () => {
  await using here = await installation()
  await using first = await startHub(here)
  const token = await fullToken(here)
  const { id, uuid } = await heartbeat(first, token, 600, 60)
  await fetch(`${first.url}/ping/${uuid}`)
  const before = (await call(first, token, 'GET', `/v1/heartbeats/${id}`)).body
  await first.stop()
  await using second = await startHub(here)
  const after = (await call(second, token, 'GET', `/v1/heartbeats/${id}`)).body
  expect(after).toEqual({ ...before, ping_url: `${second.url}/ping/${uuid}` })
}, 180_000)

test('a hub that is stopped under load finishes pending work, and nothing is lost', async () => {
  await using here = await installation()
  const seen = receiver()
  await using first = await startHub(here)
  const client = new RawHttpClient(portOf(first))
  const traffic = new Traffic(client, await fullToken(here))
  await traffic.prepare({ steady: 100, flapping: 10, updated: 20, endpoints: [{ url: seen.url, events: ['monitor.alert'] }] })
  await using rows = rowsOf(here)
  traffic.resume(portOf(first), { pings: 960, flaps: 40, creates: 40, heartbeatUpdates: 40, endpointUpdates: 20 })
  await Bun.sleep(1500)
  const stopped = first.stop('SIGTERM')
  const signaledAt = performance.now()
  // Clients keep sending during the stop. Open connections get a response or are closed cleanly, and new ones are refused.
  expect(await stopped).toBe(0)
  const durationMs = performance.now() - signaledAt
  await Bun.sleep(100)
  traffic.disconnect()
  expect(durationMs).toBeLessThan(10_000)
  // Everything that was done got a response.
  const acknowledged = { pings: traffic.acknowledged.pings, created: traffic.created.filter(one => one.id !== null).length }
  const done = `sum(ping_count) as pings, sum(case when name like 'created%' then 1 else 0 end) as created`
  expect(await rows.all(`select ${done} from heartbeats`)).toEqual([acknowledged])
  expect(first.err()).not.toContain('"level":"error"')
  expect(traffic.unexpected).toEqual([])
  expect(await traffic.lost(rows)).toEqual([])
  expect(await inconsistencies(rows)).toEqual([])
  expect(await rows.all(`select id, kind from jobs where state = 'running'`)).toEqual([])

  await using second = await startHub(here)
  traffic.resume(portOf(second), { pings: 0, flaps: 0, creates: 0, heartbeatUpdates: 0, endpointUpdates: 0 })
  await traffic.settle(20_000)
  expect(traffic.withoutResponse()).toEqual([])
  expect(await traffic.lost(rows)).toEqual([])
  traffic.disconnect()
  process.stdout.write(`stopped under load in ${Math.round(durationMs)} ms\n`)
}, 180_000)

test('requests that are pending when a hub is stopped get a response', async () => {
  await using here = await installation()
  await using hub = await startHub(here)
  const token = await fullToken(here)
  const { id, uuid } = await heartbeat(hub, token, 600, 60)
  // The bodies end only after the signal: a ping with a log, and an update.
  const bodies = [
    { method: 'POST', path: `/ping/${uuid}`, text: 'the log of the run' },
    { method: 'PATCH', path: `/v1/heartbeats/${id}`, text: '{"description":"edited while it stops"}' },
  ]
  const slow = await Promise.all(
    bodies.map(({ method, path, text }) =>
      startRequest(
        portOf(hub),
        [
          `${method} ${path} HTTP/1.1`,
          'Host: localhost',
          `Authorization: Bearer ${token}`,
          'Content-Type: application/json',
          `Content-Length: ${text.length}`,
          '',
          '',
        ].join('\r\n'),
        text,
      ),
    ),
  )
  await Bun.sleep(200)
  const stopped = hub.stop('SIGTERM')
  await until('the signal is handled', async () => hub.err().includes('"stopping"'))
  await Bun.sleep(300)
  const responses = await Promise.all(slow.map(one => one.finish()))
  expect(responses.map(one => one.split('\r\n')[0])).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK'])
  expect(await stopped).toBe(0)

  await using again = await startHub(here)
  const after = (await call(again, token, 'GET', `/v1/heartbeats/${id}`)).body
  expect(after).toMatchObject({ description: 'edited while it stops', ping_count: 1, status: 'up' })
  expect((await call(again, token, 'GET', `/v1/heartbeats/${id}/pings/1`)).body.body).toBe('the log of the run')
}, 180_000)

test.skipIf(onPostgres)(
  'a second hub with the same folder doesn’t start, and the first keeps running',
  async () => {
    await using here = await installation()
    await using hub = await startHub(here)
    const seconds = await Promise.all([1, 2, 3].map(() => here.run(['serve', '--listen', '127.0.0.1:0'])))
    for (const { code, out, err } of seconds) {
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).toStartWith(`The data folder ${here.folder} is in use by the hub with process id ${hub.pid}. `)
      expect(err.trim().split('\n')).toHaveLength(1)
    }
    expect((await fetch(`${hub.url}/readyz`)).status).toBe(200)
  },
  180_000,
)

test.skipIf(onPostgres)(
  'of several hubs that start at once with the folder of a killed hub, exactly one runs',
  async () => {
    await using here = await installation()
    await using killed = await startHub(here)
    await killed.stop('SIGKILL')
    for (let round = 0; round < 5; round++) {
      const starts = await Promise.allSettled(Array.from({ length: 4 }, () => startHub(here)))
      const running = starts.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
      await Promise.all(running.map(hub => hub.stop('SIGKILL')))
      expect(running).toHaveLength(1)
      for (const one of starts) if (one.status === 'rejected') expect(String(one.reason)).toContain('is in use by')
    }
  },
  180_000,
)

test.skipIf(onPostgres)(
  'the lock of a dead process is replaced, even if another process has its id now',
  async () => {
    await using here = await installation()
    await using killed = await startHub(here)
    const token = await fullToken(here)
    await killed.stop('SIGKILL')
    await using second = await startHub(here)
    expect((await call(second, token, 'GET', '/v1/heartbeats')).status).toBe(200)
    await second.stop('SIGKILL')
    // The lock file contains the id of a running process that is not a hub: this one.
    writeFileSync(join(here.folder, 'hub.pid'), `${process.pid}\n`)
    await using third = await startHub(here)
    expect((await here.run(['serve', '--listen', '127.0.0.1:0'])).err).toContain(`process id ${third.pid}.`)
    expect(await third.stop()).toBe(0)
  },
  180_000,
)

interface Beat {
  id: string
  uuid: string
}

/** Creates a heartbeat. */
async function heartbeat(hub: HubProcess, token: string, period_seconds: number, grace_seconds: number): Promise<Beat> {
  const schedule = { kind: 'period', period_seconds, grace_seconds }
  return (await call(hub, token, 'POST', '/v1/heartbeats', { name: 'backup', schedule })).body
}

/** Sends the head of a request, and its body on `finish`. */
async function startRequest(port: number, head: string, body: string): Promise<{ finish(): Promise<string> }> {
  let received = ''
  const ended = Promise.withResolvers<string>()
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data(_, chunk) {
        received += chunk.toString()
        if (received.includes('\r\n\r\n')) ended.resolve(received)
      },
      close: () => ended.resolve(received || 'closed without a response'),
    },
  })
  socket.write(head)
  return {
    finish: () => {
      socket.write(body)
      return ended.promise.finally(() => socket.end())
    },
  }
}
