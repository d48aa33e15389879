import { expect, test } from 'bun:test'
import { asc, eq, like } from 'drizzle-orm'
import type { CheckResult } from '../../src/checks/check'
import { operatorWorkspace } from '../../src/access/workspaces'
import { notices } from '../../src/core/db/tables'
import { monitorGaps, monitorTransitions } from '../../src/features/monitors/tables'
import { renewPresence } from '../../src/hub/presence'
import { world, type Caller } from '../support/world'
import {
  bad,
  watched,
  say,
  awake,
  restart,
  otherHub,
  rowOf,
  statusOf,
  incidentsOf,
  transitionsOf,
  dataOf,
} from '../support/watched-monitors'

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

test('of a monitor that is checked often it is written down no more than once a minute, and at the end', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  const certificate = {
    sha256: '00'.repeat(32),
    subject: 'CN=shop',
    issuer: 'CN=authority',
    serial: '01',
    names: ['shop.example.com'],
    not_before: 0,
    not_after: Date.UTC(2100, 0, 1),
    chain_not_after: Date.UTC(2099, 0, 1),
  }
  const written = async () => (await rowOf(w, id)).lastCheckAt
  const first = (await written())!
  const seen: number[] = []
  for (let n = 0; n < 18; n++) {
    w.engine.say({ monitor: id, certificate })
    await w.pass(10_000)
    seen.push(((await written())! - first) / 1000)
  }
  const values = [...new Set(seen)]
  expect(values.length).toBeGreaterThan(2)
  expect(values.length).toBeLessThan(6)
  const at = w.clock.now()
  w.engine.say({ monitor: id, certificate: null })
  await w.settle()
  expect(await written()).toBeLessThan(at)
  await w.monitoring.stop()
  expect(await rowOf(w, id)).toMatchObject({ lastCheckAt: at, certificateExpiresAt: null })
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
}, 120_000)
