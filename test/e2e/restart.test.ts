import { afterAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, fullToken, installation, startHub, until, type HubProcess } from '../support/binary'
import { rowsOf } from '../support/database'
import { halfWritten } from '../support/half-written'
import { receiver, stopReceivers } from '../support/receiver'
import { Traffic } from '../support/traffic'
import { Wire } from '../support/wire'

const onPostgres = Boolean(process.env.BAILIWICK_DATABASE_URL)
const portOf = (hub: HubProcess): number => Number(new URL(hub.url).port)

afterAll(stopReceivers)

test('what was due while no hub ran is put off by that time', async () => {
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
  const goneAt = Date.now()
  await Bun.sleep(8000)
  const backFrom = Date.now()

  await using second = await startHub(here)
  const now = (await call(second, token, 'GET', `/v1/heartbeats/${id}`)).body
  expect(now.status).toBe('up')
  // The last sign of life was written up to a second before the end.
  const putOff = Date.parse(now.down_at) - dueAt
  expect(putOff).toBeGreaterThanOrEqual(backFrom - goneAt)
  expect(putOff).toBeLessThan(Date.now() - goneAt + 2000)
  await until('the alert', async () => seen.received.length > 0)
  expect(Date.now()).toBeGreaterThanOrEqual(dueAt + putOff)
  expect(Date.now()).toBeLessThan(dueAt + putOff + 1000)
  const { body } = await call(second, token, 'GET', `/v1/heartbeats/${id}/flips`)
  expect(body.data.map((one: any) => [one.to, one.reason])).toEqual([
    ['down', 'late'],
    ['up', 'ping'],
  ])
}, 60_000)

test('a restart that takes a moment puts nothing off', async () => {
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
}, 30_000)

test('a hub that is told to stop under load finishes what is under way, and nothing is lost', async () => {
  await using here = await installation()
  const seen = receiver()
  await using first = await startHub(here)
  const wire = new Wire(portOf(first))
  const traffic = new Traffic(wire, await fullToken(here))
  await traffic.prepare({ steady: 100, flapping: 10, edited: 20, endpoints: [{ url: seen.url, events: ['monitor.alert'] }] })
  await using rows = rowsOf(here)
  traffic.resume(portOf(first), { pings: 960, flaps: 40, creates: 40, heartbeatEdits: 40, endpointEdits: 20 })
  await Bun.sleep(1500)
  const stopped = first.stop('SIGTERM')
  const began = performance.now()
  // Clients know nothing of the stop and go on; those already connected are answered or cut off cleanly, new ones find nobody.
  expect(await stopped).toBe(0)
  const took = performance.now() - began
  await Bun.sleep(100)
  traffic.cut()
  expect(took).toBeLessThan(10_000)
  // Whatever was done was also answered.
  const answered = { pings: traffic.acknowledged.pings, made: traffic.created.filter(one => one.id !== null).length }
  const done = `sum(ping_count) as pings, sum(case when name like 'created%' then 1 else 0 end) as made`
  expect(await rows.all(`select ${done} from heartbeats`)).toEqual([answered])
  expect(first.err()).not.toContain('"level":"error"')
  expect(traffic.surprises).toEqual([])
  expect(await traffic.lost(rows)).toEqual([])
  expect(await halfWritten(rows)).toEqual([])
  expect(await rows.all(`select id, kind from jobs where state = 'running'`)).toEqual([])

  await using second = await startHub(here)
  traffic.resume(portOf(second), { pings: 0, flaps: 0, creates: 0, heartbeatEdits: 0, endpointEdits: 0 })
  await traffic.settle(20_000)
  expect(traffic.unanswered()).toEqual([])
  expect(await traffic.lost(rows)).toEqual([])
  traffic.cut()
  process.stdout.write(`stopped under load in ${Math.round(took)} ms\n`)
}, 60_000)

test('requests that are under way when a hub is told to stop are answered', async () => {
  await using here = await installation()
  await using hub = await startHub(here)
  const token = await fullToken(here)
  const { id, uuid } = await heartbeat(hub, token, 600, 60)
  // Bodies that end only after the signal: a ping with its log, and an edit.
  const bodies = [
    { method: 'POST', path: `/ping/${uuid}`, text: 'the log of the run' },
    { method: 'PATCH', path: `/v1/heartbeats/${id}`, text: '{"description":"edited while it stops"}' },
  ]
  const slow = await Promise.all(
    bodies.map(({ method, path, text }) =>
      begun(
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
  await until('the signal heard', async () => hub.err().includes('"stopping"'))
  await Bun.sleep(300)
  const answers = await Promise.all(slow.map(one => one.finish()))
  expect(answers.map(one => one.split('\r\n')[0])).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK'])
  expect(await stopped).toBe(0)

  await using again = await startHub(here)
  const after = (await call(again, token, 'GET', `/v1/heartbeats/${id}`)).body
  expect(after).toMatchObject({ description: 'edited while it stops', ping_count: 1, status: 'up' })
  expect((await call(again, token, 'GET', `/v1/heartbeats/${id}/pings/1`)).body.body).toBe('the log of the run')
}, 30_000)

test.skipIf(onPostgres)(
  'a second hub on a folder is refused, and the first goes on',
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
  30_000,
)

test.skipIf(onPostgres)(
  'of hubs that start in the same moment on the folder of a killed one, one serves',
  async () => {
    await using here = await installation()
    await using killed = await startHub(here)
    await killed.stop('SIGKILL')
    for (let round = 0; round < 5; round++) {
      const starts = await Promise.allSettled(Array.from({ length: 4 }, () => startHub(here)))
      const serving = starts.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
      await Promise.all(serving.map(hub => hub.stop('SIGKILL')))
      expect(serving).toHaveLength(1)
      for (const one of starts) if (one.status === 'rejected') expect(String(one.reason)).toContain('is in use by')
    }
  },
  60_000,
)

test.skipIf(onPostgres)(
  'a lock that a dead process left is taken over, also when its process id lives again',
  async () => {
    await using here = await installation()
    await using killed = await startHub(here)
    const token = await fullToken(here)
    await killed.stop('SIGKILL')
    await using second = await startHub(here)
    expect((await call(second, token, 'GET', '/v1/heartbeats')).status).toBe(200)
    await second.stop('SIGKILL')
    // What was left names a process that lives and is no hub: this one.
    writeFileSync(join(here.folder, 'hub.pid'), `${process.pid}\n`)
    await using third = await startHub(here)
    expect((await here.run(['serve', '--listen', '127.0.0.1:0'])).err).toContain(`process id ${third.pid}.`)
    expect(await third.stop()).toBe(0)
  },
  30_000,
)

interface Beat {
  id: string
  uuid: string
}

/** Makes a heartbeat. */
async function heartbeat(hub: HubProcess, token: string, period_seconds: number, grace_seconds: number): Promise<Beat> {
  const schedule = { kind: 'period', period_seconds, grace_seconds }
  return (await call(hub, token, 'POST', '/v1/heartbeats', { name: 'backup', schedule })).body
}

/** A request whose head was sent, and the body is not. */
async function begun(port: number, head: string, body: string): Promise<{ finish(): Promise<string> }> {
  let heard = ''
  const ended = Promise.withResolvers<string>()
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data(_, chunk) {
        heard += chunk.toString()
        if (heard.includes('\r\n\r\n')) ended.resolve(heard)
      },
      close: () => ended.resolve(heard || 'closed without an answer'),
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
