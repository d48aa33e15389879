import { expect, test } from 'bun:test'
import { asc, eq, like } from 'drizzle-orm'
import type { CheckResult } from '../../src/checks/check'
import { operatorWorkspace } from '../../src/access/workspaces'
import { events, notices } from '../../src/core/db/tables'
import type { Hub } from '../../src/core/hub'
import { startMonitoring, type MonitoringWatch } from '../../src/features/monitors/live/watch'
import { monitorGaps, monitors, monitorTransitions } from '../../src/features/monitors/tables'
import { joinHubs, renewPresence } from '../../src/hub/presence'
import { openHub } from '../../src/hub/run'
import { ScriptedEngine } from '../support/scripted-engine'
import { world, type Caller, type World } from '../support/world'

const bad = { status: 'down' } as const

async function watched(w: World, more: object = {}): Promise<string> {
  const made = await w.acme.call('POST', '/v1/monitors', {
    type: 'http',
    name: 'shop',
    target: 'https://shop.example.com/',
    interval_seconds: 60,
    ...more,
  })
  if (made.status !== 201) throw new Error(made.text)
  await w.settle()
  await w.audited()
  return made.body.id
}

/** Lets the engine tell results of a monitor, a second apart. */
async function say(w: World, monitor: string, ...results: Partial<CheckResult>[]): Promise<void> {
  for (const result of results) {
    w.engine.say({ monitor, ...result })
    await w.pass(1000)
  }
}

/** Time goes by with the hub awake: unlike `pass`, in which it stands still until the end. */
async function awake(w: World, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 5000) await w.pass(Math.min(left, 5000))
}

/** The hub stops and starts again. */
async function restart(w: World): Promise<void> {
  await w.monitoring.stop()
  w.engine = new ScriptedEngine(w.clock)
  w.monitoring = await startMonitoring(w.hub, w.engine)
}

/** Another hub on the same database, with an engine of its own. */
async function otherHub(
  w: World,
): Promise<{ hub: Hub; engine: ScriptedEngine; monitoring: MonitoringWatch; close(): Promise<void> }> {
  const hub = await openHub(w.hub.config, w.clock, w.hub.log)
  await joinHubs(hub, 'other')
  const engine = new ScriptedEngine(w.clock)
  const monitoring = await startMonitoring(hub, engine)
  const close = async () => {
    await monitoring.stop()
    await hub.store.close()
  }
  return { hub, engine, monitoring, close }
}

const rowOf = async (w: World, id: string) => (await w.hub.read.select().from(monitors).where(eq(monitors.id, id)))[0]!
const rowsOf = async (w: World) => await w.hub.read.select().from(monitors).where(eq(monitors.workspaceId, w.acme.workspaceId))
const statusOf = async (w: World, id: string): Promise<string> => (await w.acme.call('GET', `/v1/monitors/${id}`)).body.status
const incidentsOf = async (w: World): Promise<any[]> => (await w.acme.call('GET', '/v1/incidents')).body.data
const transitionsOf = async (w: World, id: string) =>
  (await w.hub.read.select().from(monitorTransitions).where(eq(monitorTransitions.monitorId, id)))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(one => `${one.from} ${one.to}`)
const dataOf = async (w: World, kind: string): Promise<any[]> =>
  (await w.hub.read.select().from(events).where(eq(events.workspaceId, w.acme.workspaceId)))
    .filter(one => one.kind === kind)
    .map(one => JSON.parse(one.body).data)

test('a new monitor is given to the engine at once, and is up with its first good result', async () => {
  const w = await world()
  const id = await watched(w)
  expect(w.engine.specs.get(id)).toMatchObject({ revision: 1, type: 'http', target: 'https://shop.example.com/', settled: 'new' })
  await say(w, id, {})
  expect(await statusOf(w, id)).toBe('up')
  expect([await transitionsOf(w, id), await w.audited(), await w.happened()]).toEqual([['new up'], ['monitor.begin'], []])
})

test('the last result tells its phases as the results do', async () => {
  const w = await world()
  const id = await watched(w)
  const took = { dns: 0.5843870000098832, connect: null, tls: 30.24999, first_byte: 41.96, total: 70.3499 }
  await say(w, id, { phases: took })
  const { last_result } = (await w.acme.call('GET', `/v1/monitors/${id}`)).body
  expect(last_result).toMatchObject({
    latency_ms: 70.3,
    phases: { dns_ms: 0.6, connect_ms: null, tls_ms: 30.2, first_byte_ms: 42 },
  })
  expect(last_result.phases).not.toHaveProperty('total')
})

test('an outage is one incident with evidence, one alert and one recovery with the downtime from the first failure', async () => {
  const w = await world()
  const id = await watched(w, { confirm: 3 })
  await say(w, id, {})
  await w.audited()
  const failedAt = w.clock.now()
  await say(w, id, bad, bad)
  expect([await statusOf(w, id), await incidentsOf(w)]).toEqual(['up', []])
  await say(w, id, bad, bad, bad)
  expect(await statusOf(w, id)).toBe('down')
  const [incident, ...others] = await incidentsOf(w)
  expect(others).toEqual([])
  expect(incident).toMatchObject({
    status: 'open',
    severity: 'critical',
    started_at: new Date(failedAt).toISOString(),
    confirmed_at: new Date(failedAt + 2000).toISOString(),
    cause: expect.stringContaining('503'),
    locations: ['local'],
  })
  const { body: whole } = await w.acme.call('GET', `/v1/incidents/${incident.id}`)
  expect(whole.evidence).toMatchObject({ status: 503, body: 'Service Unavailable' })
  expect(await w.audited()).toEqual(['incident.open', 'monitor.fail'])
  expect(await w.happened()).toEqual(['monitor.alert'])
  expect(await dataOf(w, 'monitor.alert')).toMatchObject([
    {
      kind: 'monitor.down',
      status: 'down',
      previous_status: 'up',
      monitor: { id, name: 'shop', type: 'http' },
      incident: { id: incident.id, status: 'open' },
    },
  ])

  await w.pass(60_000)
  const upAt = w.clock.now()
  await say(w, id, {}, {}, {})
  expect(await statusOf(w, id)).toBe('up')
  expect(await incidentsOf(w)).toMatchObject([{ id: incident.id, status: 'resolved' }])
  expect(await w.audited()).toEqual(['incident.resolve', 'monitor.recover'])
  expect(await w.happened()).toEqual(['monitor.recovered'])
  const [told] = await dataOf(w, 'monitor.recovered')
  expect(told).toMatchObject({ previous_status: 'down', incident: { id: incident.id, status: 'resolved' } })
  // The second good result confirms that it is well.
  expect(told.downtime_seconds).toBe((upAt + 1000 - failedAt) / 1000)
  expect(await transitionsOf(w, id)).toEqual(['new up', 'up down', 'down up'])
})

test('results of a check that was under way while the monitor was edited, paused or deleted are dropped', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  const old = w.engine.result({ monitor: id, ...bad })
  expect((await w.acme.call('PATCH', `/v1/monitors/${id}`, { target: 'https://new.example.com/' })).status).toBe(200)
  await w.settle()
  expect(w.engine.specs.get(id)).toMatchObject({ revision: 2, target: 'https://new.example.com/' })
  for (let n = 0; n < 3; n++) w.engine.sayAll([old])
  await w.settle()
  expect(await statusOf(w, id)).toBe('up')
  const found = w.engine.result({ monitor: id, ...bad })
  await w.acme.call('POST', `/v1/monitors/${id}/pause`)
  await w.settle()
  expect(w.engine.specs.has(id)).toBe(false)
  w.engine.sayAll([found, found, found])
  await w.settle()
  expect(await statusOf(w, id)).toBe('paused')
  await w.acme.call('POST', `/v1/monitors/${id}/resume`)
  await w.settle()
  const last = w.engine.result({ monitor: id, ...bad })
  await w.acme.call('DELETE', `/v1/monitors/${id}`)
  await w.settle()
  expect(w.engine.specs.has(id)).toBe(false)
  w.engine.sayAll([last, last, last])
  await w.settle()
  expect([await incidentsOf(w), await w.happened()]).toEqual([[], []])
})

test('after an edit one good result is enough, and what it was stands until then', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {}, bad, bad)
  expect(await statusOf(w, id)).toBe('down')
  await w.acme.call('PATCH', `/v1/monitors/${id}`, { target: 'https://new.example.com/' })
  await w.settle()
  expect(await statusOf(w, id)).toBe('down')
  await say(w, id, {})
  expect(await statusOf(w, id)).toBe('up')
  expect(await w.happened()).toEqual(['monitor.alert', 'monitor.recovered'])
})

test('many monitors that fail at once each get their incident and alert, once', async () => {
  const w = await world()
  const ids: string[] = []
  for (let n = 0; n < 250; n++) {
    const made = await w.acme.call('POST', '/v1/monitors', { type: 'http', name: `m${n}`, target: `https://m${n}.example.com/` })
    ids.push(made.body.id)
  }
  await w.settle()
  const all = (more: object) => w.engine.sayAll(ids.map(monitor => ({ monitor, ...more })))
  all({})
  await w.pass(1000)
  all(bad)
  await w.pass(1000)
  all(bad)
  await w.pass(1000)
  const told = await dataOf(w, 'monitor.alert')
  expect(told.map(one => one.monitor.id).sort()).toEqual(ids.toSorted())
  expect(new Set(told.map(one => one.incident.id)).size).toBe(250)
})

test('what the database does not take is written once it does, with the time of the first failure', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  const { transact } = w.hub.store
  const failedAt = w.clock.now()
  w.hub.store.transact = () => Promise.reject(new Error('The database is away.'))
  await say(w, id, bad, bad)
  // Longer than the lease of its share, which could not be renewed.
  for (let n = 0; n < 30; n++) await say(w, id, bad)
  expect([w.monitoring.standing().waiting, w.monitoring.standing().sharesHeld]).toEqual([1, 0])
  // Of thousands that fail for hours, what waits must fit into memory.
  const { waitingFound } = (w.monitoring as unknown as { judging: { waitingFound: Map<string, { result: CheckResult }[]> } })
    .judging
  const found = waitingFound.get(id)!
  expect(found.map(one => one.result.evidence !== null)).toEqual(found.map((_, n) => n < 4 || n === found.length - 1))
  w.hub.store.transact = transact
  await w.pass(6000)
  expect(w.monitoring.standing().waiting).toBe(0)
  expect(await incidentsOf(w)).toMatchObject([{ started_at: new Date(failedAt).toISOString() }])
  expect(await w.happened()).toEqual(['monitor.alert'])
})

test('a write that succeeded and was not heard of is not done twice', async () => {
  const w = await world()
  const id = await watched(w, { confirm: 3 })
  await say(w, id, {})
  const { transact } = w.hub.store
  w.hub.store.transact = async fn => {
    w.hub.store.transact = transact
    await transact(fn)
    throw new Error('The connection was lost.')
  }
  await say(w, id, bad)
  await w.pass(1000)
  expect((await rowOf(w, id)).state.locations.local).toMatchObject({ settled: 'up', streak: 1 })
  await say(w, id, bad)
  expect(await statusOf(w, id)).toBe('up')
  await say(w, id, bad)
  expect(await statusOf(w, id)).toBe('down')
  expect([await w.happened(), await transitionsOf(w, id)]).toEqual([['monitor.alert'], ['new up', 'up down']])
})

test('silence makes a monitor unknown, never down, and the next good result makes it up', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  await w.audited()
  await awake(w, 170_000)
  expect(await statusOf(w, id)).toBe('up')
  await awake(w, 20_000)
  expect(await statusOf(w, id)).toBe('unknown')
  await say(w, id, {})
  expect(await statusOf(w, id)).toBe('up')
  expect([await w.audited(), await w.happened()]).toEqual([['monitor.lose', 'monitor.begin'], []])
})

test('a monitor whose parent is down is no incident of its own, and one whose parent recovers without it is', async () => {
  const w = await world()
  const router = await watched(w, { name: 'router' })
  const shop = await watched(w, { name: 'shop', depends_on: [router] })
  await say(w, router, {})
  await say(w, shop, {})
  await say(w, router, bad, bad)
  await say(w, shop, bad, bad, bad)
  expect([await statusOf(w, router), await statusOf(w, shop)]).toEqual(['down', 'down'])
  expect(await incidentsOf(w)).toHaveLength(1)
  expect((await dataOf(w, 'monitor.alert')).map(one => one.monitor.id)).toEqual([router])
  await say(w, router, {}, {})
  await w.pass(1000)
  expect(w.engine.sent.at(-1)).toMatchObject({ kind: 'run_now', monitors: [shop] })
  await say(w, shop, bad)
  await w.pass(1000)
  expect((await dataOf(w, 'monitor.alert')).map(one => one.monitor.id)).toEqual([router, shop])
  await say(w, shop, {}, {})
  expect((await dataOf(w, 'monitor.recovered')).map(one => one.monitor.id)).toEqual([router, shop])
})

test('a group stands as its members do', async () => {
  const w = await world()
  const members = [await watched(w, { name: 'one' }), await watched(w, { name: 'two' })]
  const made = await w.acme.call('POST', '/v1/monitors', { type: 'group', name: 'both', options: { members, rule: 'all' } })
  expect(made.status).toBe(201)
  const group = made.body.id
  await w.settle()
  expect(w.engine.specs.has(group)).toBe(false)
  for (const id of members) await say(w, id, {})
  await w.pass(1000)
  expect(await statusOf(w, group)).toBe('up')
  await say(w, members[0]!, bad, bad)
  await w.pass(1000)
  expect(await statusOf(w, group)).toBe('degraded')
  await say(w, members[1]!, bad, bad)
  await w.pass(1000)
  expect(await statusOf(w, group)).toBe('down')
  for (const id of members) await say(w, id, {}, {})
  await w.pass(1000)
  expect(await statusOf(w, group)).toBe('up')
})

test('a group of what stands behind a router raises nothing, nor does any of it flap, when the router goes up and down', async () => {
  const w = await world()
  const router = await watched(w, { name: 'router' })
  const members = [
    await watched(w, { name: 'one', depends_on: [router] }),
    await watched(w, { name: 'two', depends_on: [router] }),
  ]
  const options = { members, rule: 'percent', percent: 50 }
  const made = await w.acme.call('POST', '/v1/monitors', { type: 'group', name: 'LAN', options })
  await w.settle()
  const all = [router, ...members]
  for (const id of all) await say(w, id, {})
  await w.pass(1000)
  for (let round = 0; round < 4; round++) {
    for (const id of all) {
      await say(w, id, bad, bad)
      await awake(w, 10_000)
    }
    expect([await statusOf(w, members[1]!), await statusOf(w, made.body.id)]).toEqual(['down', 'down'])
    for (const id of all) await say(w, id, {}, {})
    await awake(w, 60_000)
    expect(await statusOf(w, made.body.id)).toBe('up')
  }
  expect(new Set((await dataOf(w, 'monitor.alert')).map(one => one.monitor.id))).toEqual(new Set([router]))
  const [incident, ...more] = await incidentsOf(w)
  expect(more).toEqual([])
  const flapping = (await rowsOf(w)).filter(row => row.state.flapping).map(row => row.name)
  expect(flapping).toEqual(['router'])
  const affected = (await w.acme.call('GET', `/v1/incidents/${incident.id}`)).body.monitors.map((one: any) => one.name)
  expect(affected.toSorted()).toEqual(['LAN', 'one', 'router', 'two'])
})

test('while the location says that it cannot see, nothing goes down', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  w.engine.pulse({ impaired: 'No resolver answers.' })
  await say(w, id, bad, bad, bad)
  expect(await statusOf(w, id)).toBe('up')
  expect((await w.stranger.call('GET', '/readyz')).body.checks.monitoring).toEqual({
    status: 'degraded',
    detail: 'Results of this hub do not count at present: No resolver answers.',
  })
  await awake(w, 180_000)
  await say(w, id, bad)
  expect(await statusOf(w, id)).toBe('unknown')
  w.engine.pulse()
  await say(w, id, {})
  expect([await statusOf(w, id), await incidentsOf(w)]).toEqual(['up', []])
})

test('a location that cannot see for two minutes is told of once, also over a restart, and so is that it sees again', async () => {
  const w = await world()
  await watched(w)
  const told = async () =>
    (await w.hub.read.select().from(notices).where(like(notices.kind, 'monitoring.%')))
      .sort((a, b) => (a.kind < b.kind ? -1 : 1))
      .map(one => `${one.kind} ${one.count}`)
  const blind = { impaired: 'The resolvers of this machine do not answer.' }
  w.engine.pulse(blind)
  await awake(w, 100_000)
  w.engine.pulse()
  await awake(w, 10_000)
  expect(await told()).toEqual([])
  w.engine.pulse(blind)
  await awake(w, 15_000)
  expect(await told()).toEqual(['monitoring.impaired 1'])
  const [notice] = await w.hub.read.select().from(notices).where(like(notices.kind, 'monitoring.%'))
  expect(notice!.text).toContain('The resolvers of this machine do not answer.')
  expect((await operatorWorkspace(w.hub.read)).id).toBe(notice!.workspaceId)
  await awake(w, 300_000)
  await restart(w)
  w.engine.pulse(blind)
  await awake(w, 300_000)
  expect(await told()).toEqual(['monitoring.impaired 1'])
  await restart(w)
  w.engine.pulse()
  await awake(w, 20_000)
  expect(await told()).toEqual(['monitoring.impaired 1'])
  await awake(w, 20_000)
  expect(await told()).toEqual(['monitoring.impaired 1', 'monitoring.restored 1'])
  w.engine.pulse(blind)
  await awake(w, 130_000)
  expect(await told()).toEqual(['monitoring.impaired 2', 'monitoring.restored 1'])
})

test('an engine that is silent makes the hub degraded, and ready', async () => {
  const w = await world()
  await w.pass(9000)
  w.engine.pulse()
  w.clock.advance(11_000)
  const answer = await w.stranger.call('GET', '/readyz')
  expect(answer.body.checks.monitoring.status).toBe('degraded')
})

test('when monitors were last checked is written down each minute', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {}, {})
  const at = w.clock.now() - 1000
  const written = async () => (await rowOf(w, id)).lastCheckAt
  expect(await written()).toBeLessThan(at)
  await w.pass(60_000)
  expect(await written()).toBe(at)
})

test('a restart while a failure is confirmed goes on with it, and keeps the time of the first failure', async () => {
  const w = await world()
  const id = await watched(w, { confirm: 3 })
  await say(w, id, {})
  const failedAt = w.clock.now()
  await say(w, id, bad)
  await restart(w)
  expect(w.engine.specs.get(id)).toMatchObject({ settled: 'up' })
  // It is looked at again at once.
  expect(w.engine.sent).toContainEqual(expect.objectContaining({ kind: 'run_now', monitors: [id] }))
  await say(w, id, bad)
  await restart(w)
  await say(w, id, bad)
  expect(await incidentsOf(w)).toMatchObject([{ started_at: new Date(failedAt).toISOString() }])
  expect(await w.happened()).toEqual(['monitor.alert'])
})

test('a restart during an outage raises nothing anew, and the recovery after it counts from the first failure', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  const failedAt = w.clock.now()
  await say(w, id, bad, bad)
  await w.monitoring.stop()
  w.clock.advance(600_000)
  await renewPresence(w.hub)
  await restart(w)
  expect([await statusOf(w, id), w.engine.specs.get(id)!.settled]).toEqual(['down', 'down'])
  await say(w, id, bad, bad)
  expect(await w.happened()).toEqual(['monitor.alert'])
  const upAt = w.clock.now()
  await say(w, id, {}, {})
  expect(await w.happened()).toEqual(['monitor.recovered'])
  const [told] = await dataOf(w, 'monitor.recovered')
  expect(Math.abs(told.downtime_seconds - (upAt - failedAt) / 1000)).toBeLessThanOrEqual(1)
  // Nobody looked meanwhile: that is written down, and was no change.
  const gaps = await w.hub.read.select().from(monitorGaps)
  expect(gaps.map(one => [one.to - one.from >= 600_000, one.shares])).toEqual([[true, null]])
  expect(await transitionsOf(w, id)).toEqual(['new up', 'up down', 'down up'])
})

test('a hub that another one took for dead writes nothing any more, and no alert comes of the move', async () => {
  const w = await world()
  const ids = [await watched(w), await watched(w), await watched(w), await watched(w)]
  for (const id of ids) await say(w, id, {})
  await w.audited()
  // The first hub stands still: nothing of it runs, and its lease ends.
  const stale = w.engine
  const other = await otherHub(w)
  try {
    for (let n = 0; n < 30; n++) {
      Object.assign(w.clock, { time: w.clock.now() + 1000 })
      await renewPresence(other.hub)
      await (other.monitoring as unknown as { tick(): Promise<void> }).tick()
    }
    expect([...other.engine.specs.keys()].sort()).toEqual(ids.toSorted())
    for (const monitor of ids) for (let n = 0; n < 3; n++) stale.say({ monitor, ...bad })
    await w.monitoring.settled()
    for (const monitor of ids) other.engine.say({ monitor })
    await other.monitoring.settled()
    expect([await incidentsOf(w), await w.happened(), await w.audited()]).toEqual([[], [], []])
    for (const id of ids) expect(await statusOf(w, id)).toBe('up')
  } finally {
    await other.close()
  }
})

test('a clock that is set forward or back raises no alarm, and checks go on to count', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  await w.pass(24 * 3600_000)
  await say(w, id, {})
  Object.assign(w.clock, { time: w.clock.now() - 12 * 3600_000 })
  await w.monitoring.settled()
  await say(w, id, {})
  await w.pass(10_000)
  expect(await w.happened()).toEqual([])
  await say(w, id, bad, bad)
  expect([await statusOf(w, id), await w.happened()]).toEqual(['down', ['monitor.alert']])
  await say(w, id, {}, {})
  expect(await w.happened()).toEqual(['monitor.recovered'])
})

test('a clock that went ahead for a moment leaves neither times to come nor a gap behind', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  await w.pass(3600_000)
  await say(w, id, {})
  await awake(w, 20_000)
  expect(await w.hub.read.select().from(monitorGaps)).toHaveLength(1)
  w.clock.set(-3600_000)
  const back = w.clock.now()
  await say(w, id, {})
  await awake(w, 70_000)
  const last = (await w.acme.call('GET', `/v1/monitors/${id}`)).body.last_check_at
  expect(Date.parse(last)).toBeLessThan(back + 5000)
  await say(w, id, bad, bad)
  await awake(w, 17_000)
  await say(w, id, {}, {})
  await awake(w, 10_000)
  for (const gap of await w.hub.read.select().from(monitorGaps)) expect(gap.to).toBeLessThanOrEqual(back + 5000)
  const from = new Date(back + 5000).toISOString()
  const to = new Date(w.clock.now()).toISOString()
  const uptime = await w.acme.call('GET', `/v1/monitors/${id}/uptime?from=${from}&to=${to}`)
  expect([uptime.status, uptime.text]).toEqual([200, expect.stringContaining('"unknown":0')])
  expect(uptime.text).toContain('"outages":1')
})

test('locations that disagree half and half do not make a monitor go to and fro', async () => {
  const w = await world()
  const id = await watched(w)
  await w.hub.store.transact(tx => tx.update(monitors).set({ locations: ['local', 'far'], recoverySeconds: 60 }))
  await restart(w)
  const far = (more: Partial<CheckResult>) => w.monitoring.take('far', [w.engine.result({ monitor: id, ...more })])
  far({})
  await say(w, id, {})
  expect((await rowOf(w, id)).status).toBe('up')
  for (let n = 0; n < 10; n++) {
    far({})
    await say(w, id, bad)
  }
  expect([(await rowOf(w, id)).status, await w.happened()]).toEqual(['degraded', ['monitor.alert']])
  for (let n = 0; n < 2; n++) {
    far(bad)
    await say(w, id, bad)
  }
  expect((await rowOf(w, id)).status).toBe('down')
  for (let n = 0; n < 10; n++) {
    far({})
    await say(w, id, bad)
  }
  // The dwell is not over.
  expect((await rowOf(w, id)).status).toBe('down')
  expect((await dataOf(w, 'monitor.alert')).map(one => one.kind)).toEqual(['monitor.degraded', 'monitor.down'])
})

test('a monitor that flaps is told of once, and its changes are not', async () => {
  const w = await world()
  const id = await watched(w, { confirm: 1, recover: 1 })
  await say(w, id, {})
  await w.audited()
  for (let n = 0; n < 12; n++) {
    w.engine.say({ monitor: id, ...bad })
    await w.pass(60_000)
    w.engine.say({ monitor: id })
    await w.pass(60_000)
  }
  const audited = await w.audited()
  expect(audited.filter(one => one === 'monitor.flap')).toHaveLength(1)
  expect((await w.happened()).length).toBeLessThan(12)
})

test('in a maintenance window nobody is told, and what is still down an interval after it is', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  const made = await w.acme.call('POST', '/v1/maintenance-windows', {
    name: 'upgrade',
    kind: 'once',
    timezone: 'UTC',
    starts_at_local: new Date(w.clock.now() + 60_000).toISOString().slice(0, 19),
    duration_seconds: 600,
    targets: { monitors: [id] },
  })
  expect(made.status).toBe(201)
  await w.audited()
  await w.pass(61_000)
  expect([await statusOf(w, id), await w.audited()]).toEqual(['maintenance', ['monitor.shelter']])
  const failedAt = w.clock.now()
  await say(w, id, bad, bad, bad)
  expect([await statusOf(w, id), await w.happened()]).toEqual(['maintenance', []])
  for (let n = 0; n < 10; n++) {
    await w.pass(59_000)
    await say(w, id, bad)
  }
  expect([await statusOf(w, id), await w.happened()]).toEqual(['down', []])
  await awake(w, 62_000)
  expect(await w.happened()).toEqual(['monitor.alert'])
  expect(await incidentsOf(w)).toMatchObject([{ started_at: new Date(failedAt).toISOString() }])
  expect(await transitionsOf(w, id)).toEqual(['new up', 'up maintenance', 'maintenance down'])
  const { data } = (await w.acme.call('GET', `/v1/monitors/${id}/transitions`)).body
  const fell = data.find((one: any) => one.to === 'down')
  expect(fell.incident_id).toBe((await incidentsOf(w))[0].id)
})

test('a window that is begun by hand for a group covers its members at once', async () => {
  const w = await world()
  const id = await watched(w)
  const group = await w.acme.call('POST', '/v1/monitors', { type: 'group', name: 'all', options: { members: [id], rule: 'any' } })
  await say(w, id, {})
  const targets = { groups: [group.body.id] }
  const made = await w.acme.call('POST', '/v1/maintenance-windows', {
    name: 'by hand',
    kind: 'once',
    timezone: 'UTC',
    starts_at_local: '2026-01-01T00:00:00',
    duration_seconds: 600,
    targets,
  })
  expect(made.status).toBe(201)
  expect((await w.acme.call('POST', `/v1/maintenance-windows/${made.body.id}/start`)).status).toBe(200)
  await w.settle()
  expect([await statusOf(w, id), await statusOf(w, group.body.id)]).toEqual(['maintenance', 'maintenance'])
  expect((await w.acme.call('POST', `/v1/maintenance-windows/${made.body.id}/stop`)).status).toBe(200)
  await w.settle()
  expect(await statusOf(w, id)).toBe('up')
})

test('a monitor and an event are shown with the incident and the monitor that belong to them', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  const shown = async () => (await w.acme.call('GET', `/v1/monitors/${id}?expand=incident`)).body.expanded.incident
  expect(await shown()).toBeNull()
  await say(w, id, bad, bad)
  const [incident] = await incidentsOf(w)
  expect(await shown()).toEqual(incident)
  const listed = await w.acme.call('GET', '/v1/monitors?expand=incident')
  expect(listed.body.data.map((one: any) => one.expanded.incident.id)).toEqual([incident.id])
  const { body } = await w.acme.call('GET', '/v1/events?kind=monitor.alert&expand=resource')
  expect(body.data[0].expanded.resource).toMatchObject({ id, name: 'shop', status: 'down' })
  await say(w, id, {}, {})
  expect(await shown()).toBeNull()
})

test('what fails while what it depends on was just found well is told at once', async () => {
  const w = await world()
  const router = await watched(w, { name: 'router' })
  const shop = await watched(w, { name: 'shop', depends_on: [router] })
  await say(w, router, {})
  await say(w, shop, {})
  await w.pass(30_000)
  await say(w, shop, bad, bad)
  // It is held until its parent was looked at.
  expect([await statusOf(w, shop), await w.happened()]).toEqual(['down', []])
  expect(w.engine.sent.at(-1)).toMatchObject({ kind: 'run_now', monitors: [router] })
  await say(w, router, {})
  await w.pass(1000)
  expect((await dataOf(w, 'monitor.alert')).map(one => one.monitor.id)).toEqual([shop])
})

test('of what is under maintenance no failure from before or within takes the place of the maintenance', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  const made = await w.acme.call('POST', '/v1/maintenance-windows', {
    name: 'by hand',
    kind: 'once',
    timezone: 'UTC',
    starts_at_local: '2026-01-01T00:00:00',
    duration_seconds: 600,
    targets: { monitors: [id] },
  })
  await w.acme.call('POST', `/v1/maintenance-windows/${made.body.id}/start`)
  await w.settle()
  const begunAt = (await rowOf(w, id)).statusSince
  await w.pass(590_000)
  await say(w, id, bad)
  // The window ends at the moment in which the second failure is told, before anything else is looked at.
  w.clock.jump(600_000 - (w.clock.now() - begunAt) + 1)
  const endedAt = w.clock.now()
  w.engine.say({ monitor: id, ...bad })
  await w.settle()
  expect(await statusOf(w, id)).toBe('down')
  const row = await rowOf(w, id)
  expect(row.statusSince).toBeGreaterThanOrEqual(endedAt)
})

test('a restart during an outage does not make it easier to recover', async () => {
  const w = await world()
  const id = await watched(w, { recover: 3 })
  await say(w, id, {})
  await say(w, id, bad, bad)
  for (let n = 0; n < 5; n++) {
    await w.pass(59_000)
    await say(w, id, bad)
  }
  await restart(w)
  await say(w, id, {})
  expect(await statusOf(w, id)).toBe('down')
  await say(w, id, {}, {})
  expect(await statusOf(w, id)).toBe('up')
})

test('after a restart a good result of what was well is not written down', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  for (let n = 0; n < 5; n++) {
    await w.pass(59_000)
    await say(w, id, {})
  }
  await restart(w)
  const { stateVersion } = await rowOf(w, id)
  await say(w, id, {})
  expect((await rowOf(w, id)).stateVersion).toBe(stateVersion)
})

test('a hub that slept raises no status anew for each monitor when it wakes', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  await w.audited()
  w.clock.jump(3 * 3600_000)
  await w.pass(1000)
  await say(w, id, {})
  expect([await statusOf(w, id), await w.audited(), await w.happened()]).toEqual(['up', [], []])
  // The silence that comes after it counts.
  w.clock.jump(3 * 3600_000)
  await w.pass(1000)
  await awake(w, 190_000)
  expect(await statusOf(w, id)).toBe('unknown')
})

test('an edit and a restart during an outage raise nothing anew', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {}, bad, bad)
  expect(await statusOf(w, id)).toBe('down')
  await w.acme.call('PATCH', `/v1/monitors/${id}`, { name: 'renamed' })
  await w.settle()
  await restart(w)
  expect(await statusOf(w, id)).toBe('down')
  await say(w, id, bad)
  expect([await statusOf(w, id), await w.happened()]).toEqual(['down', ['monitor.alert']])
})

test('what was down and answers again, though not well, has its incident eased and told once', async () => {
  const w = await world()
  const id = await watched(w)
  const slow = { status: 'degraded', error: { kind: 'condition', message: 'It is slow.' } } as const
  await say(w, id, { status: 'up' }, bad, bad)
  await w.happened()
  const [incident] = (await w.acme.call('GET', '/v1/incidents?status=open')).body.data
  expect(incident).toMatchObject({ severity: 'critical' })
  await say(w, id, slow, slow)
  expect(await statusOf(w, id)).toBe('degraded')
  expect((await w.acme.call('GET', `/v1/incidents/${incident.id}`)).body).toMatchObject({
    status: 'open',
    severity: 'warning',
    cause: 'It is slow.',
  })
  // Whoever pages on alerts is not paged because something gets better.
  expect(await w.happened()).toEqual([])
  await say(w, id, bad, bad)
  expect(await w.happened()).toEqual(['monitor.alert'])
  await say(w, id, { status: 'up' }, { status: 'up' })
  expect(await w.happened()).toEqual(['monitor.recovered'])
  const { timeline } = (await w.acme.call('GET', `/v1/incidents/${incident.id}`)).body
  expect(timeline.map((one: any) => one.kind).filter((kind: string) => !/notif/.test(kind))).toEqual([
    'opened',
    'eased',
    'worsened',
    'resolved',
  ])
})

test('a workspace whose monitors all fail at once does not keep those of others waiting', async () => {
  const w = await world()
  const made = async (caller: Caller, name: string): Promise<string> =>
    (await caller.call('POST', '/v1/monitors', { type: 'http', name, target: 'https://a.example.com/' })).body.id
  const ids: string[] = []
  for (let n = 0; n < 250; n++) ids.push(await made(w.acme, `m${n}`))
  const other = await made(w.rival, 'other')
  await w.settle()
  for (const more of [{}, bad, bad]) {
    w.engine.sayAll([...ids, other].map(monitor => ({ monitor, ...more })))
    await w.pass(1000)
  }
  const rows = await w.hub.read
    .select()
    .from(monitorTransitions)
    .where(eq(monitorTransitions.to, 'down'))
    .orderBy(asc(monitorTransitions.id))
  expect(rows).toHaveLength(251)
  expect(rows.findIndex(one => one.monitorId === other)).toBeLessThanOrEqual(100)
})

test('what is down behind something that is itself affected is listed where people are told', async () => {
  const w = await world()
  const router = await watched(w, { name: 'router' })
  const host = await watched(w, { name: 'host', depends_on: [router] })
  const shop = await watched(w, { name: 'shop', depends_on: [host] })
  for (const id of [router, host, shop]) await say(w, id, {})
  for (const id of [router, host, shop]) await say(w, id, bad, bad)
  await w.pass(1000)
  const [incident, ...others] = await incidentsOf(w)
  expect(others).toEqual([])
  expect((await dataOf(w, 'monitor.alert')).map(one => one.monitor.id)).toEqual([router])
  const { body } = await w.acme.call('GET', `/v1/incidents/${incident.id}`)
  expect(body.monitors.map((one: any) => one.name).sort()).toEqual(['host', 'router', 'shop'])
})

test('what is affected by something that nobody was told of yet is listed once somebody is', async () => {
  const w = await world()
  const router = await watched(w, { name: 'router', tags: ['core'] })
  const shop = await watched(w, { name: 'shop', depends_on: [router] })
  for (const id of [router, shop]) await say(w, id, {})
  const made = await w.acme.call('POST', '/v1/maintenance-windows', {
    name: 'by hand',
    kind: 'once',
    timezone: 'UTC',
    starts_at_local: '2026-01-01T00:00:00',
    duration_seconds: 600,
    targets: { tags: ['core'] },
  })
  await w.acme.call('POST', `/v1/maintenance-windows/${made.body.id}/start`)
  await w.settle()
  await say(w, router, bad, bad)
  await say(w, shop, bad, bad)
  expect(await incidentsOf(w)).toEqual([])
  await w.acme.call('POST', `/v1/maintenance-windows/${made.body.id}/stop`)
  await awake(w, 30_000)
  await say(w, router, bad)
  await awake(w, 40_000)
  const [incident] = await incidentsOf(w)
  const { body } = await w.acme.call('GET', `/v1/incidents/${incident.id}`)
  expect(body.monitors.map((one: any) => one.name).sort()).toEqual(['router', 'shop'])
})

test('what was held because of a monitor that is paused by now is looked at at once', async () => {
  const w = await world()
  const router = await watched(w, { name: 'router' })
  const shop = await watched(w, { name: 'shop', depends_on: [router] })
  for (const id of [router, shop]) await say(w, id, {})
  for (const id of [router, shop]) await say(w, id, bad, bad)
  await w.acme.call('POST', `/v1/monitors/${router}/pause`)
  await w.settle()
  await w.pass(1000)
  await w.pass(1000)
  expect(w.engine.sent.at(-1)).toMatchObject({ kind: 'run_now', monitors: [shop] })
  await say(w, shop, bad)
  expect((await dataOf(w, 'monitor.alert')).map(one => one.monitor.id)).toEqual([router, shop])
})
