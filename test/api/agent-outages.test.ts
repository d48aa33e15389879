import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'bun:test'
import { Agent, type AgentStatus } from '../../src/agent/agent'
import type { Machine as MeasuredMachine } from '../../src/agent/machine'
import { News } from '../../src/agent/news'
import { MinuteSums } from '../../src/agent/sample/minutes'
import { HubClient } from '../../src/agent/transport/hub-client'
import { HubClock } from '../../src/agent/transport/hub-clock'
import { Spool } from '../../src/agent/transport/spool'
import { tiers } from '../../src/core/db/series/metric-tiers'
import { Mean } from '../../src/core/db/series/metric-row'
import { rollUpMetrics } from '../../src/features/servers/metrics/recorder'
import { subjectOf } from '../../src/features/servers/metrics/names'
import { watchServers } from '../../src/features/servers/watch'
import { renewPresence } from '../../src/hub/presence'
import { signRequest } from '../../src/wire/signed'
import { Machine } from '../support/agent-double'
import { ManualClock } from '../support/manual-clock'
import { incidentsOf } from '../support/watched-monitors'
import { world, type World } from '../support/world'

// The program of the agent, with a hub that it reaches over HTTP. Both have clocks of their own.

const minuteMs = 60_000

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

/** A server whose disk has this use (percent). */
class MeasuredServer implements MeasuredMachine {
  readonly bootId = 'boot-1'
  uptimeSeconds = () => 86_400
  readonly news: News = new News()
  disk = 50
  private readonly sums = new MinuteSums()
  sample = (at: number) => {
    const minute = Math.floor(at / minuteMs) % 100
    const seconds = Math.floor((at % minuteMs) / 10_000)
    const size = 1e9
    return Promise.resolve(
      this.sums.add(
        at,
        new Map([
          ['cpu.used_percent', (minute + seconds) / 2],
          ['filesystem.used_bytes:/', (this.disk / 100) * size],
          ['filesystem.size_bytes:/', size],
        ]),
      ),
    )
  }
  end = () => this.sums.end()
  parts = () => Promise.resolve({ facts: { hostname: 'web-1' } })
  watch() {}
}

/** A server with the program of the agent, and its hub. */
class Scene {
  readonly server = new MeasuredServer()
  /** Time of the server, apart from how wrong its clock is. */
  private readonly time = new ManualClock()
  private readonly began = this.time.now()
  wrongBy = 0
  agent!: Agent
  status: AgentStatus | null = null
  /** Why the hub does not get requests: it is stopped, or the network is cut. */
  outage: 'stopped' | 'cut' | null = null
  private readonly folder = mkdtempSync(join(tmpdir(), 'bailiwick-outage-'))
  readonly proxy: Bun.Server<undefined>

  private constructor(
    readonly here: World,
    readonly id: string,
    readonly monitor: string,
    readonly machine: Machine,
  ) {
    folders.push(this.folder)
    this.proxy = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: request => (this.outage ? new Response(null, { status: 502 }) : here.app.handle(request)),
    })
  }

  static async open(): Promise<Scene> {
    const here = await world()
    const { id } = (await here.acme.call('POST', '/v1/servers', { name: 'web-1', monitor: true }, { 'Idempotency-Key': 'web-1' }))
      .body
    const monitor = (await here.acme.call('GET', '/v1/monitors')).body.data[0].id
    const { key } = (await here.acme.call('POST', '/v1/enrolment-keys', { name: 'test', server_id: id })).body
    const machine = new Machine(here)
    expect((await machine.enrol(key)).status).toBe(201)
    return new Scene(here, id, monitor, machine)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.agent['halt']()
    await this.agent.idle()
    await this.proxy.stop(true)
  }

  start(): void {
    const clock = new HubClock(
      () => this.time.now() + this.wrongBy,
      () => this.time.now() - this.began + 600_000,
    )
    this.agent = new Agent({
      ...{ agentId: 'agent_1', allow: ['collect'], config: { interval_seconds: 60, watched_units: [] } },
      client: new HubClient({ hub: this.proxy.url.origin, pin: null }, clock, this.machine.token, request =>
        signRequest(this.machine.key, request),
      ),
      ...{ clock, timers: this.time, machine: this.server, random: () => 0.5 },
      spool: new Spool(join(this.folder, 'spool'), problem => expect(problem).toBe('')),
      log: () => {},
      keepConfig: () => {},
      onStatus: status => (this.status = status),
    })
    this.agent.start()
  }

  /** Ends it without a word, as SIGKILL does, and starts it again. */
  kill(): void {
    this.agent['halt']()
    this.server.end()
    this.start()
  }

  async pass(ms: number): Promise<void> {
    const { here, time } = this
    for (let passed = 0; passed < ms; passed += 10_000) {
      // While there is no connection, only samples are taken.
      const step = this.outage ? 10_000 : 1000
      for (let at = 0; at < 10_000; at += step) {
        if (this.outage === 'stopped') here.clock.jump(step)
        else here.clock.advance(step)
        time.advance(step)
        await this.agent.idle()
      }
      if (this.outage === 'stopped' || passed % 30_000 !== 0) continue
      await here.advance(0)
      await watchServers(here.hub)
      if (passed % minuteMs === 0) await rollUpMetrics(here.hub)
    }
  }

  /** What is stored in a tier of a metric: average, maximum, and number of samples by time. */
  async stored(tier: (typeof tiers)[number]): Promise<Map<number, [avg: number, max: number, n: number]>> {
    const found = new Map<number, [number, number, number]>()
    const { metrics } = this.here.hub.series
    await metrics.read(subjectOf(this.id, 'agent'), tier, 0, this.here.clock.now() + minuteMs, (at, column, ...value) => {
      if (column === 'cpu.used_percent') found.set(at, value)
    })
    return found
  }
}

test('no minute is missing after outages in which the agent was killed, and nothing of the past is alerted', async () => {
  await using scene = await Scene.open()
  const { here, server, monitor } = scene
  const from = here.clock.now()
  scene.start()
  await scene.pass(3 * minuteMs)
  const status = async () => (await here.acme.call('GET', `/v1/monitors/${monitor}`)).body.status
  expect([await status(), await here.emitted()]).toEqual(['up', []])

  // The disk is full during each outage, but not afterwards.
  await renewPresence(here.hub)
  scene.outage = 'stopped'
  server.disk = 99
  await scene.pass(4 * minuteMs)
  scene.kill()
  await scene.pass(3 * minuteMs)
  server.disk = 50
  await scene.pass(3 * minuteMs)
  scene.outage = null
  await renewPresence(here.hub)
  await scene.pass(4 * minuteMs)
  expect([await status(), await here.emitted(), await incidentsOf(here)]).toEqual(['up', [], []])

  scene.outage = 'cut'
  server.disk = 99
  await scene.pass(20 * minuteMs)
  scene.kill()
  await scene.pass(20 * minuteMs)
  server.disk = 50
  await scene.pass(20 * minuteMs)
  expect(await status()).toBe('down')
  scene.outage = null
  await scene.pass(6 * minuteMs)
  expect(await status()).toBe('up')
  expect(scene.status).toMatchObject({ error: null, dropped: 0 })
  // That the server could not be reached is all that was alerted.
  expect(await incidentsOf(here)).toMatchObject([{ status: 'resolved', cause: expect.stringContaining('has not reported') }])
  expect(await here.emitted()).toEqual(['server.status_changed', 'monitor.alert', 'server.status_changed', 'monitor.recovered'])

  await rollUpMetrics(here.hub)
  const [minutes, ...coarse] = tiers
  const all = await scene.stored(minutes)
  const last = Math.floor(here.clock.now() / minuteMs) * minuteMs - 2 * minuteMs
  const expected = Array.from({ length: (last - from) / minuteMs }, (_, at) => from + at * minuteMs)
  expect(expected.filter(start => !all.has(start))).toEqual([])
  expect(expected.length).toBeGreaterThan(78)
  // Minutes in which the agent was killed have fewer samples.
  const whole = expected.filter(start => all.get(start)![2] === 6)
  expect(expected.length - whole.length).toBeLessThanOrEqual(4)
  for (const start of whole) {
    const [avg, max] = all.get(start)!
    const base = (start / minuteMs) % 100
    expect({ start, avg, max }).toEqual({ start, avg: expect.closeTo((base + 2.5) / 2, 2), max: expect.any(Number) })
  }
  for (const tier of coarse) {
    const sums = new Map<number, Mean>()
    for (const [at, [avg, max, n]] of all) {
      const start = Math.floor(at / tier.stepMs) * tier.stepMs
      const sum = sums.get(start) ?? new Mean()
      sums.set(start, sum)
      sum.add(avg, max, n)
    }
    const found = await scene.stored(tier)
    for (const [at, { avg, max }] of sums)
      expect([tier.name, at, found.get(at)]).toEqual([
        tier.name,
        at,
        [expect.closeTo(avg, 1), expect.closeTo(max, 0), expect.any(Number)],
      ])
    expect(found.size).toBe(sums.size)
  }
}, 180_000)

test.each([-5, 5])(
  'a clock that is set wrong by %d min while the agent runs: minutes are filed at the right time',
  async minutes => {
    await using scene = await Scene.open()
    const { here } = scene
    const from = here.clock.now()
    scene.start()
    await scene.pass(3 * minuteMs)
    scene.wrongBy = minutes * minuteMs
    await scene.pass(5 * minuteMs)
    scene.kill()
    await scene.pass(4 * minuteMs)
    const stored = await scene.stored(tiers[0])
    const expected = Array.from({ length: 6 }, (_, at) => from + at * minuteMs)
    expect([...stored.keys()].slice(0, 6)).toEqual(expected)
    for (const start of expected) expect(stored.get(start)![1]).toBeCloseTo((((start / minuteMs) % 100) + 5) / 2, 0)
    const { data } = (await here.acme.call('GET', '/v1/agents')).body
    expect(Math.abs(data[0].clock_offset_ms + minutes * minuteMs)).toBeLessThan(1000)
  },
  180_000,
)

test('a server that was restored from a snapshot with its memory continues to report', async () => {
  await using scene = await Scene.open()
  const { here, agent } = (scene.start(), scene)
  await scene.pass(6 * minuteMs)
  const { runId } = agent
  // As it was some minutes before.
  agent['seq'] -= 4
  const restored = here.clock.now()
  await scene.pass(5 * minuteMs)
  expect(scene.status).toMatchObject({ error: null, dropped: 0 })
  expect(agent.runId).not.toBe(runId)
  const { data } = (await here.acme.call('GET', '/v1/agents')).body
  expect(data).toMatchObject([{ state: 'reporting', run_id: agent.runId }])
  expect([...(await scene.stored(tiers[0])).keys()].filter(start => start >= restored)).toHaveLength(4)
  expect((await here.acme.call('GET', '/v1/notices')).body.data).toEqual([])
  expect(await here.emitted()).toEqual([])
})
