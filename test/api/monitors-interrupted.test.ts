import { expect, test } from 'bun:test'
import { asc, eq, like } from 'drizzle-orm'
import type { CheckResult } from '../../src/checks/check'
import { operatorWorkspace } from '../../src/access/workspaces'
import { notices } from '../../src/core/db/tables'
import { monitorGaps, monitorTransitions } from '../../src/features/monitors/tables'
import { renewPresence } from '../../src/hub/presence'
import { world, type Caller, type World } from '../support/world'
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

/** Two monitors that are up, and a group of them that is down if both are. */
async function grouped(w: World): Promise<{ members: string[]; group: string }> {
  const members = [await watched(w, { name: 'one' }), await watched(w, { name: 'two' })]
  const group = await watched(w, { type: 'group', name: 'both', target: undefined, options: { members, rule: 'all' } })
  // The hub looks for updated monitors, and would reread those that were created just now.
  await awake(w, 120_000)
  for (const id of members) await say(w, id, {})
  await w.advance(1000)
  return { members, group }
}

/** The next transaction is committed, but the hub sees it fail. */
function loseNextCommit(w: World): void {
  const { transact } = w.hub.store
  w.hub.store.transact = async fn => {
    w.hub.store.transact = transact
    await transact(fn)
    throw new Error('The connection was lost.')
  }
}

test('many monitors that fail at once each get one incident and one alert', async () => {
  const w = await world()
  const ids: string[] = []
  for (let n = 0; n < 250; n++) {
    const created = await w.acme.call('POST', '/v1/monitors', {
      type: 'http',
      name: `m${n}`,
      target: `https://m${n}.example.com/`,
    })
    ids.push(created.body.id)
  }
  await w.settle()
  const all = (more: object) => w.engine.reportAll(ids.map(monitor => ({ monitor, ...more })))
  all({})
  await w.advance(1000)
  all(bad)
  await w.advance(1000)
  all(bad)
  await w.advance(1000)
  const alerts = await dataOf(w, 'monitor.alert')
  expect(alerts.map(one => one.monitor.id).sort()).toEqual(ids.toSorted())
  expect(new Set(alerts.map(one => one.incident.id)).size).toBe(250)
})

test('failed writes are retried, with the time of the first failure', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  const { transact } = w.hub.store
  const failedAt = w.clock.now()
  w.hub.store.transact = () => Promise.reject(new Error('The database is away.'))
  await say(w, id, bad, bad)
  // Longer than the lease of its share, which can't be renewed.
  for (let n = 0; n < 30; n++) await say(w, id, bad)
  expect([w.monitoring.status().waiting, w.monitoring.status().sharesHeld]).toEqual([1, 0])
  // If thousands fail for hours, everything that waits must fit in memory.
  const { waitingFound } = (w.monitoring as unknown as { judging: { waitingFound: Map<string, { result: CheckResult }[]> } })
    .judging
  const found = waitingFound.get(id)!
  expect(found.map(one => one.result.evidence !== null)).toEqual(found.map((_, n) => n < 4 || n === found.length - 1))
  w.hub.store.transact = transact
  await w.advance(6000)
  expect(w.monitoring.status().waiting).toBe(0)
  expect(await incidentsOf(w)).toMatchObject([{ started_at: new Date(failedAt).toISOString() }])
  expect(await w.emitted()).toEqual(['monitor.alert'])
})

test('a write that succeeded unnoticed is not repeated', async () => {
  const w = await world()
  const id = await watched(w, { confirm: 3 })
  await say(w, id, {})
  loseNextCommit(w)
  await say(w, id, bad)
  await w.advance(1000)
  expect((await rowOf(w, id)).state.locations.local).toMatchObject({ settled: 'up', streak: 1 })
  await say(w, id, bad)
  expect(await statusOf(w, id)).toBe('up')
  await say(w, id, bad)
  expect(await statusOf(w, id)).toBe('down')
  expect([await w.emitted(), await transitionsOf(w, id)]).toEqual([['monitor.alert'], ['new up', 'up down']])
})

test('a group follows a member that was written together with it', async () => {
  const w = await world()
  const { members, group } = await grouped(w)
  await say(w, members[0]!, bad, bad)
  await w.advance(1000)
  expect(await statusOf(w, group)).toBe('degraded')
  const { transact } = w.hub.store
  w.hub.store.transact = () => Promise.reject(new Error('The database is away.'))
  // The group waits to report that it is degraded, and the member to recover.
  await awake(w, 61_000)
  await say(w, members[0]!, {}, {})
  expect(w.monitoring.status().waiting).toBe(2)
  w.hub.store.transact = transact
  await awake(w, 10_000)
  expect(await statusOf(w, members[0]!)).toBe('up')
  expect(await statusOf(w, group)).toBe('up')
})

test('a group follows a member whose recovery was written unnoticed', async () => {
  const w = await world()
  const { members, group } = await grouped(w)
  await say(w, members[0]!, bad, bad)
  await w.advance(1000)
  expect(await statusOf(w, group)).toBe('degraded')
  await say(w, members[0]!, {})
  loseNextCommit(w)
  await say(w, members[0]!, {})
  await w.advance(1000)
  await w.advance(1000)
  expect(await statusOf(w, members[0]!)).toBe('up')
  expect(await statusOf(w, group)).toBe('up')
})

test('a monitor whose check blocks all others is degraded with the reason, raises a notice, and becomes unknown', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  w.engine.quarantine(id)
  await w.advance(1000)
  expect((await w.acme.call('GET', `/v1/monitors/${id}`)).body).toMatchObject({
    last_result: {
      status: 'degraded',
      error: { kind: 'internal', message: expect.stringContaining('blocked all other checks') },
    },
  })
  const { data } = (await w.acme.call('GET', '/v1/notices?kind=monitor_check.quarantined')).body
  expect(data).toMatchObject([{ severity: 'critical', resource: { type: 'monitor', id } }])
  await awake(w, 600_000)
  expect(await statusOf(w, id)).toBe('unknown')
})

test('an impaired location is reported once after two minutes, even across a restart, and so is its recovery', async () => {
  const w = await world()
  await watched(w)
  const sentNotices = async () =>
    (await w.hub.read.select().from(notices).where(like(notices.kind, 'monitoring.%')))
      .sort((a, b) => (a.kind < b.kind ? -1 : 1))
      .map(one => `${one.kind} ${one.count}`)
  const blind = { impaired: 'The resolvers of this machine do not answer.' }
  w.engine.pulse(blind)
  await awake(w, 100_000)
  w.engine.pulse()
  await awake(w, 10_000)
  expect(await sentNotices()).toEqual([])
  w.engine.pulse(blind)
  await awake(w, 15_000)
  expect(await sentNotices()).toEqual(['monitoring.impaired 1'])
  const [notice] = await w.hub.read.select().from(notices).where(like(notices.kind, 'monitoring.%'))
  expect(notice!.text).toContain('The resolvers of this machine do not answer.')
  expect((await operatorWorkspace(w.hub.read)).id).toBe(notice!.workspaceId)
  await awake(w, 300_000)
  await restart(w)
  w.engine.pulse(blind)
  await awake(w, 300_000)
  expect(await sentNotices()).toEqual(['monitoring.impaired 1'])
  await restart(w)
  w.engine.pulse()
  await awake(w, 20_000)
  expect(await sentNotices()).toEqual(['monitoring.impaired 1'])
  await awake(w, 20_000)
  expect(await sentNotices()).toEqual(['monitoring.impaired 1', 'monitoring.restored 1'])
  w.engine.pulse(blind)
  await awake(w, 130_000)
  expect(await sentNotices()).toEqual(['monitoring.impaired 2', 'monitoring.restored 1'])
})

test('an engine that does not respond makes the hub degraded but ready', async () => {
  const w = await world()
  await w.advance(9000)
  w.engine.pulse()
  w.clock.advance(11_000)
  const answer = await w.anonymous.call('GET', '/readyz')
  expect(answer.body.checks.monitoring.status).toBe('degraded')
})

test('the time of the last check is stored every minute', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {}, {})
  const at = w.clock.now() - 1000
  const written = async () => (await rowOf(w, id)).lastCheckAt
  expect(await written()).toBeLessThan(at)
  await w.advance(60_000)
  expect(await written()).toBe(at)
})

test('the time of the last check is stored at most once a minute for short intervals, and at shutdown', async () => {
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
    w.engine.report({ monitor: id, certificate })
    await w.advance(10_000)
    seen.push(((await written())! - first) / 1000)
  }
  const values = [...new Set(seen)]
  expect(values.length).toBeGreaterThan(2)
  expect(values.length).toBeLessThan(6)
  const at = w.clock.now()
  w.engine.report({ monitor: id, certificate: null })
  await w.settle()
  expect(await written()).toBeLessThan(at)
  await w.monitoring.stop()
  expect(await rowOf(w, id)).toMatchObject({ lastCheckAt: at, certificateExpiresAt: null })
})

test('confirmation continues after a restart and keeps the time of the first failure', async () => {
  const w = await world()
  const id = await watched(w, { confirm: 3 })
  await say(w, id, {})
  const failedAt = w.clock.now()
  await say(w, id, bad)
  await restart(w)
  expect(w.engine.specs.get(id)).toMatchObject({ confirmed_status: 'up' })
  // It is checked again immediately.
  expect(w.engine.sent).toContainEqual(expect.objectContaining({ kind: 'run_now', monitors: [id] }))
  await say(w, id, bad)
  await restart(w)
  await say(w, id, bad)
  expect(await incidentsOf(w)).toMatchObject([{ started_at: new Date(failedAt).toISOString() }])
  expect(await w.emitted()).toEqual(['monitor.alert'])
})

test('a restart during an outage sends no new alert, and downtime counts from the first failure', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  const failedAt = w.clock.now()
  await say(w, id, bad, bad)
  await w.monitoring.stop()
  w.clock.advance(600_000)
  await renewPresence(w.hub)
  await restart(w)
  expect([await statusOf(w, id), w.engine.specs.get(id)!.confirmed_status]).toEqual(['down', 'down'])
  await say(w, id, bad, bad)
  expect(await w.emitted()).toEqual(['monitor.alert'])
  const upAt = w.clock.now()
  await say(w, id, {}, {})
  expect(await w.emitted()).toEqual(['monitor.recovered'])
  const [recovery] = await dataOf(w, 'monitor.recovered')
  expect(Math.abs(recovery.downtime_seconds - (upAt - failedAt) / 1000)).toBeLessThanOrEqual(1)
  // The time without checks is recorded, but is not a status change.
  const gaps = await w.hub.read.select().from(monitorGaps)
  expect(gaps.map(one => [one.to - one.from >= 600_000, one.shares])).toEqual([[true, null]])
  expect(await transitionsOf(w, id)).toEqual(['new up', 'up down', 'down up'])
})

test('a hub that another one considers dead writes nothing more, and the move causes no alert', async () => {
  const w = await world()
  const ids = [await watched(w), await watched(w), await watched(w), await watched(w)]
  for (const id of ids) await say(w, id, {})
  await w.audited()
  // The first hub is frozen, and its lease expires.
  const stale = w.engine
  const other = await otherHub(w)
  try {
    for (let n = 0; n < 30; n++) {
      Object.assign(w.clock, { time: w.clock.now() + 1000 })
      await renewPresence(other.hub)
      await (other.monitoring as unknown as { tick(): Promise<void> }).tick()
    }
    expect([...other.engine.specs.keys()].sort()).toEqual(ids.toSorted())
    for (const monitor of ids) for (let n = 0; n < 3; n++) stale.report({ monitor, ...bad })
    await w.monitoring.settled()
    for (const monitor of ids) other.engine.report({ monitor })
    await other.monitoring.settled()
    expect([await incidentsOf(w), await w.emitted(), await w.audited()]).toEqual([[], [], []])
    for (const id of ids) expect(await statusOf(w, id)).toBe('up')
  } finally {
    await other.close()
  }
})

test('setting the clock forward or back causes no alert, and checks keep counting', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  await w.advance(24 * 3600_000)
  await say(w, id, {})
  Object.assign(w.clock, { time: w.clock.now() - 12 * 3600_000 })
  await w.monitoring.settled()
  await say(w, id, {})
  await w.advance(10_000)
  expect(await w.emitted()).toEqual([])
  await say(w, id, bad, bad)
  expect([await statusOf(w, id), await w.emitted()]).toEqual(['down', ['monitor.alert']])
  await say(w, id, {}, {})
  expect(await w.emitted()).toEqual(['monitor.recovered'])
})

test('a clock that was briefly ahead leaves no future timestamps and no gap behind', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  await w.advance(3600_000)
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
    await w.advance(59_000)
    await say(w, id, bad)
  }
  await restart(w)
  await say(w, id, {})
  expect(await statusOf(w, id)).toBe('down')
  await say(w, id, {}, {})
  expect(await statusOf(w, id)).toBe('up')
})

test('a success of a monitor that was up is not stored after a restart', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  for (let n = 0; n < 5; n++) {
    await w.advance(59_000)
    await say(w, id, {})
  }
  await restart(w)
  const { stateVersion } = await rowOf(w, id)
  await say(w, id, {})
  expect((await rowOf(w, id)).stateVersion).toBe(stateVersion)
})

test('a hub that was suspended changes no statuses when it wakes up', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  await w.audited()
  w.clock.jump(3 * 3600_000)
  await w.advance(1000)
  await say(w, id, {})
  expect([await statusOf(w, id), await w.audited(), await w.emitted()]).toEqual(['up', [], []])
  // Silence after waking up counts.
  w.clock.jump(3 * 3600_000)
  await w.advance(1000)
  await awake(w, 190_000)
  expect(await statusOf(w, id)).toBe('unknown')
})

test('an update and a restart during an outage send no new alert', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {}, bad, bad)
  expect(await statusOf(w, id)).toBe('down')
  await w.acme.call('PATCH', `/v1/monitors/${id}`, { name: 'renamed' })
  await w.settle()
  await restart(w)
  expect(await statusOf(w, id)).toBe('down')
  await say(w, id, bad)
  expect([await statusOf(w, id), await w.emitted()]).toEqual(['down', ['monitor.alert']])
})

test('a workspace whose monitors all fail at once does not delay other workspaces', async () => {
  const w = await world()
  const created = async (caller: Caller, name: string): Promise<string> =>
    (await caller.call('POST', '/v1/monitors', { type: 'http', name, target: 'https://a.example.com/' })).body.id
  const ids: string[] = []
  for (let n = 0; n < 250; n++) ids.push(await created(w.acme, `m${n}`))
  const other = await created(w.rival, 'other')
  await w.settle()
  for (const more of [{}, bad, bad]) {
    w.engine.reportAll([...ids, other].map(monitor => ({ monitor, ...more })))
    await w.advance(1000)
  }
  const rows = await w.hub.read
    .select()
    .from(monitorTransitions)
    .where(eq(monitorTransitions.to, 'down'))
    .orderBy(asc(monitorTransitions.id))
  expect(rows).toHaveLength(251)
  expect(rows.findIndex(one => one.monitorId === other)).toBeLessThanOrEqual(100)
}, 180_000)
