import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'bun:test'
import { isPostgres } from '../../src/core/db/dialect'
import { Worker } from '../../src/core/jobs/worker'
import { maxRows } from '../../src/features/servers/live/live-rows'
import { liveServersChannel, liveServersOf } from '../../src/features/servers/live/live-servers'
import { watchServers } from '../../src/features/servers/watch'
import { createApp } from '../../src/hub/app'
import { jobKinds } from '../../src/hub/jobs'
import { AgentDouble } from '../support/agent-double'
import { EventReader } from '../support/event-stream'
import { untilWaiting } from '../support/waiting-requests'
import { otherHub } from '../support/watched-monitors'
import { world, type Caller, type World } from '../support/world'

async function scene() {
  const here = await world()
  const id = await addServer(here, 'web-1')
  const agent = await AgentDouble.enroll(here, id)
  const path = `/v1/servers/${id}/live`
  return { here, id, agent, path, look: async (query = '') => (await here.acme.call('GET', `${path}${query}`)).body }
}

const addServer = async (here: World, name: string): Promise<string> =>
  (await here.acme.call('POST', '/v1/servers', { name }, { 'Idempotency-Key': name })).body.id

async function openStream({ app }: Pick<World, 'app'>, { token }: Caller, id: string): Promise<EventReader> {
  const headers = { authorization: `Bearer ${token}` }
  return new EventReader(await app.handle(new Request(`http://localhost/v1/stream?watch_servers=${id}`, { headers })))
}

describe('live metrics', () => {
  test('are sent by the agent once someone looks, for a minute, and shown with their times', async () => {
    const { here, agent, look } = await scene()
    expect((await agent.fetchCommands()).body.live_seconds).toBe(0)
    expect((await agent.sendLive({ 'cpu.used_percent': 1 })).body).toEqual({ live_seconds: 0 })

    const waiting = agent.fetchCommands(30)
    await untilWaiting(here)
    expect(await look()).toEqual({ state: 'starting', reason: null, interval_seconds: 2, rows: [], processes: [], units: {} })
    expect((await waiting).body).toMatchObject({ commands: [], live_seconds: 60 })

    const first = here.clock.now()
    expect((await agent.sendLive({ 'cpu.used_percent': 12.5, 'disk.busy_percent:sda': null })).body).toEqual({ live_seconds: 60 })
    await here.advance(2000)
    await agent.sendLive({ 'cpu.used_percent': 31, 'disk.busy_percent:sda': 4, 'No name': 1, 'memory.used_bytes': -1 })
    const at = (time: number) => new Date(time).toISOString()
    expect(await look()).toEqual({
      ...{ state: 'running', reason: null, interval_seconds: 2 },
      rows: [
        { at: at(first), metrics: { 'cpu.used_percent': 12.5 } },
        { at: at(first + 2000), metrics: { 'cpu.used_percent': 31, 'disk.busy_percent:sda': 4 } },
      ],
      processes: [],
      units: { 'cpu.used_percent': 'percent', 'disk.busy_percent': 'percent' },
    })
    expect((await look(`?after=${at(first)}`)).rows).toHaveLength(1)
    // While it sends, its request for commands waits.
    expect((await agent.fetchCommands()).body.live_seconds).toBe(0)
    // Nothing of this is stored.
    const stored = await here.acme.call('GET', `/v1/servers/${agent.serverId}/metrics`)
    expect(stored.body.series).toEqual([])

    await here.advance(60_000)
    expect((await agent.sendLive({ 'cpu.used_percent': 1 })).body).toEqual({ live_seconds: 0 })
    expect((await agent.fetchCommands()).body.live_seconds).toBe(0)
  })

  test('keep the last 60 rows, and continue while someone looks', async () => {
    const { here, agent, look } = await scene()
    await look()
    for (let row = 0; row < maxRows + 15; row++) {
      const { status, body, text } = await agent.sendLive({ 'cpu.used_percent': row })
      expect([status, body.live_seconds > 0, text]).toEqual([200, true, text])
      await here.advance(2000)
      if (row % 10 === 0) await look()
    }
    const { rows } = await look()
    expect(rows.map((one: any) => one.metrics['cpu.used_percent'])).toEqual(Array.from({ length: maxRows }, (_, at) => at + 15))
  })

  test('are explained if the agent doesn’t send them, which is asked again', async () => {
    const { here, id, agent, look } = await scene()
    await look()
    expect((await agent.fetchCommands()).body.live_seconds).toBe(60)
    // The response may have been lost, but agents are not asked all the time.
    expect((await agent.fetchCommands()).body.live_seconds).toBe(0)
    await here.advance(6000)
    expect((await agent.fetchCommands()).body.live_seconds).toBeGreaterThan(50)
    await here.advance(10_000)
    expect(await look()).toMatchObject({ state: 'unavailable', reason: expect.stringContaining('too old'), rows: [] })
    await agent.sendLive({ 'cpu.used_percent': 1 })
    expect(await look()).toMatchObject({ state: 'running', reason: null })
    await agent.stops('stop')
    await here.advance(20_000)
    expect(await look()).toMatchObject({ state: 'unavailable', reason: 'The agent was stopped.' })
    await agent.sendReport()
    await here.advance(300_000)
    await watchServers(here.hub)
    expect(await look()).toMatchObject({ state: 'unavailable', reason: 'The agent has stopped reporting.' })
    const plain = await addServer(here, 'web-2')
    expect((await here.acme.call('GET', `/v1/servers/${plain}/live`)).body).toMatchObject({
      ...{ state: 'unavailable', reason: 'The server has no agent.' },
    })
    expect(liveServersOf(here.hub).secondsLeft(plain)).toBe(0)
    const small = await addServer(here, 'router-1')
    await AgentDouble.enroll(here, small, { allow: [] })
    expect((await here.acme.call('GET', `/v1/servers/${small}/live`)).body).toMatchObject({
      ...{ state: 'unavailable', reason: 'The shell agent sends no live metrics.' },
    })
    expect(liveServersOf(here.hub).secondsLeft(small)).toBe(0)
    expect(id).not.toBe(plain)
  })

  test('are only for those who may read servers, and limited', async () => {
    const { here, path, agent, id } = await scene()
    expect((await here.rival.call('GET', path)).status).toBe(404)
    expect((await (await here.scoped('dns.read')).call('GET', path)).status).toBe(403)
    expect((await here.acme.call('GET', `${path}?after=yesterday`)).status).toBe(400)
    const live = liveServersOf(here.hub)
    expect(live.secondsLeft(id)).toBe(0)
    for (let n = 0; n < 50; n++) live.watch({ id: `srv_${n}`, workspaceId: here.acme.workspaceId }, `agent_${n}`)
    expect((await here.acme.call('GET', path)).body).toMatchObject({
      code: 'rate_limited',
      'violated-policies': ['live-servers'],
    })
    // Nobody looks anymore.
    await here.advance(61_000)
    await agent.sendReport()
    expect((await here.acme.call('GET', path)).status).toBe(200)
  })

  test('that are invalid, too large, too frequent, or of another run are refused', async () => {
    const { here, agent, look } = await scene()
    const wrong = async (changed: Record<string, unknown>) => (await agent.sendLive({ 'cpu.used_percent': 1 }, changed)).body
    // Nobody looks, so nothing is read.
    expect(await wrong({ values: 'all' })).toEqual({ live_seconds: 0 })
    await look()
    expect(await wrong({ values: [] })).toMatchObject({ errors: [{ pointer: '#/values', code: 'length' }] })
    expect(await wrong({ values: ['1'] })).toMatchObject({ errors: [{ pointer: '#/values/0' }] })
    expect(await wrong({ columns: Array(301).fill('a.b') })).toMatchObject({ errors: [{ pointer: '#/columns' }] })
    expect(await wrong({ run_id: 'another-run' })).toMatchObject({ code: 'conflict' })
    expect(await wrong({ more: 'x'.repeat(200_000) })).toMatchObject({ status: 413 })
    expect((await look()).rows).toEqual([])
    const statuses = []
    for (let n = 0; n < 45; n++) statuses.push((await agent.sendLive({ 'cpu.used_percent': n })).status)
    expect(statuses.filter(one => one === 200)).toHaveLength(39)
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    // Reports are counted separately.
    expect((await agent.sendReport()).status).toBe(200)
    expect(here.clock.now()).toBeGreaterThan(0)
  })

  test('are streamed, and the agent continues for as long as the stream is open', async () => {
    const { here, id, agent } = await scene()
    const stream = await openStream(here, here.acme, id)
    const strangers = [await openStream(here, await here.scoped('dns.read'), id), await openStream(here, here.rival, id)]
    const processes = [{ name: 'mysqld', user: 'mysql', cpu_percent: 8.2, memory_bytes: 1e9, command: null }]
    await stream.next()
    const waiting = agent.fetchCommands(30)
    await untilWaiting(here)
    await here.advance(1000)
    expect((await waiting).body.live_seconds).toBe(60)
    for (let second = 0; second < 120; second += 10) {
      const { body } = await agent.sendLive({ 'cpu.used_percent': second }, { processes })
      expect(body.live_seconds).toBeGreaterThan(0)
      await here.advance(250)
      expect(await nextLive(stream)).toMatchObject([{ id, metrics: { 'cpu.used_percent': second }, processes }])
      for (let tick = 0; tick < 10; tick++) await here.advance(1000)
    }
    for (const one of [stream, ...strangers]) await one.close()
    await here.advance(61_000)
    expect((await agent.sendLive({ 'cpu.used_percent': 1 })).body).toEqual({ live_seconds: 0 })
  })

  test('of a server that can’t be watched are tried again every five seconds while it is streamed', async () => {
    const { here, id, agent } = await scene()
    const live = liveServersOf(here.hub)
    for (let n = 0; n < 50; n++) live.watch({ id: `srv_${n}`, workspaceId: here.acme.workspaceId }, `agent_${n}`)
    const stream = await openStream(here, here.acme, id)
    await stream.next()
    await here.advance(1000)
    expect(live.secondsLeft(id)).toBe(0)
    const asked = live.takeDue([id, 'srv_without_agent'])
    expect([asked, live.takeDue([id, 'srv_without_agent'])]).toEqual([['srv_without_agent'], []])
    // The others are no longer watched.
    for (let second = 0; second < 66; second++) await here.advance(1000)
    expect((await agent.sendLive({ 'cpu.used_percent': 1 })).body.live_seconds).toBeGreaterThan(0)
    await here.advance(250)
    expect(await nextLive(stream)).toMatchObject([{ id }])
    await stream.close()
  })
})

test('what other hubs tell is limited and forgotten, although nobody looks here', async () => {
  const { here } = await scene()
  const live = liveServersOf(here.hub)
  const receive = (message: object) => live.receive(JSON.stringify({ from: 'other', ...message }))
  const packed = () =>
    gzipSync(JSON.stringify([{ at: here.clock.now(), metrics: { 'cpu.used_percent': 1 } }, []])).toString('base64')
  const watch = (id: string, workspaceId: string) =>
    receive({ id, workspaceId, agentId: 'agent', until: here.clock.now() + 60_000 })
  for (let at = 0; at < 700; at++) watch(`srv_${at}`, `ws_${at % 11}`)
  for (let at = 0; at < 700; at++) receive({ id: `srv_${at}`, packed: packed() })
  const known = () => Array.from({ length: 700 }, (_, at) => live.rowsOf(`srv_${at}`).rows.length).filter(rows => rows > 0).length
  expect(known()).toBe(500)
  for (let at = 0; at < 60; at++) watch(`srv_own_${at}`, 'ws_own')
  expect(live.secondsLeft('srv_own_0')).toBe(0)

  // Kept for a minute, for a page that is opened again.
  await here.advance(61_000)
  live.sweep()
  expect(known()).toBe(500)
  for (let at = 0; at < 60; at++) watch(`srv_own_${at}`, 'ws_own')
  expect([live.secondsLeft('srv_own_49'), live.secondsLeft('srv_own_50')]).toEqual([60, 0])
  await here.advance(60_000)
  live.sweep()
  expect(known()).toBe(0)
})

test('a change that an agent reports is streamed at once, and metrics are not', async () => {
  const { here, id, agent } = await scene()
  const stream = await openStream(here, here.acme, id)
  await stream.next()
  const changes = async () => {
    await here.advance(250)
    return (await stream.next())!.data.changes
  }
  const changed = [{ type: 'agent', id: agent.id, action: 'cloud.agent.follow' }]
  const minute = { columns: ['cpu.used_percent'], minutes: [[here.clock.now() - 60_000, 6, [1], [1]]] }
  expect((await agent.sendReport(minute)).status).toBe(200)
  await here.advance(250)
  const units = [{ name: 'nginx.service', state: 'failed', sub_state: 'failed', watched: true }]
  expect((await agent.sendReport({ units })).status).toBe(200)
  expect(await changes()).toEqual(changed)
  expect((await agent.sendReport({ facts: { hostname: 'web-1' } })).status).toBe(200)
  expect(await changes()).toEqual(changed)
  await stream.close()
})

/** The servers of the next event with live metrics. */
async function nextLive(stream: EventReader): Promise<any> {
  for (;;) {
    const event = await stream.next()
    if (!event || event.event === 'live') return event?.data.servers
  }
}

describe.skipIf(!isPostgres)('at another hub', () => {
  test('a client sees what an agent sends to this one', async () => {
    const { here, id, agent } = await scene()
    const other = await otherHub(here)
    for (const hub of [here.hub, other.hub]) await hub.store.listen(liveServersChannel, text => liveServersOf(hub).receive(text))
    const app = createApp(other.hub, new Worker(other.hub, jobKinds))
    const waiting = agent.fetchCommands(30)
    await untilWaiting(here)
    const look = () =>
      app.handle(
        new Request(`http://localhost/v1/servers/${id}/live`, { headers: { authorization: `Bearer ${here.acme.token}` } }),
      )
    expect((await look()).status).toBe(200)
    expect((await waiting).body.live_seconds).toBe(60)
    // Too many texts for one message between hubs, so it is without them.
    const random = () =>
      Array.from({ length: 10 }, () => crypto.randomUUID())
        .join(' ')
        .slice(0, 300)
    const processes = Array.from({ length: 10 }, () => ({
      name: 'php',
      user: null,
      cpu_percent: 1,
      memory_bytes: 1,
      command: random(),
    }))
    expect((await agent.sendLive({ 'cpu.used_percent': 12.5 }, { processes })).body.live_seconds).toBe(60)
    for (;;) {
      const { rows } = (await (await look()).json()) as any
      if (rows.length > 0) {
        expect(rows).toMatchObject([{ metrics: { 'cpu.used_percent': 12.5 } }])
        break
      }
      await Bun.sleep(20)
    }
    await other.close()
  })
})
