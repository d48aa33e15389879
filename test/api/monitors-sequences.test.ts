import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { and, asc, eq, inArray } from 'drizzle-orm'
import fc from 'fast-check'
import { events } from '../../src/core/db/tables'
import { activeWindow } from '../../src/features/maintenance/calendar'
import { incidents, incidentUpdates } from '../../src/features/incidents/tables'
import { startMonitoring, type MonitoringWatch } from '../../src/features/monitors/live/watch'
import { monitors, monitorTransitions } from '../../src/features/monitors/tables'
import { groupVerdict } from '../../src/features/monitors/verdict/group'
import { renewPresence } from '../../src/hub/presence'
import { ScriptedEngine } from '../support/scripted-engine'
import { world, type World } from '../support/world'

setDefaultTimeout(120_000)

const names = ['router', 'shop', 'site'] as const
type Name = (typeof names)[number]
type Status = 'up' | 'degraded' | 'down'

type Action =
  | { do: 'result'; of: Name; status: Status; times: number }
  | { do: 'late' | 'again' | 'outdated'; of: Name }
  | { do: 'pass'; ms: number }
  | { do: 'jump'; ms: number }
  | { do: 'edit' | 'pause' | 'resume' | 'reset'; of: Name }
  | { do: 'maintain'; on: boolean }
  | { do: 'impaired'; on: boolean }
  | { do: 'restart' | 'kill' | 'lose commit' }
  | { do: 'disk'; full: boolean }

const of = fc.constantFrom(...names)
const anyAction: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('result' as const),
      of,
      status: fc.constantFrom<Status>('up', 'up', 'degraded', 'down', 'down'),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('late' as const, 'again' as const, 'outdated' as const), of }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1000, 15_000, 60_000, 61_000, 200_000) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('jump' as const), ms: fc.constantFrom(20_000, 200_000, 10_800_000) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('edit' as const, 'pause' as const, 'resume' as const, 'resume' as const, 'reset' as const),
      of,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('maintain' as const), on: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('impaired' as const), on: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('restart' as const, 'kill' as const, 'lose commit' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('disk' as const), full: fc.boolean() }) },
)

let w: World
let windowId: string

beforeAll(async () => {
  w = await world()
  const created = await w.acme.call('POST', '/v1/maintenance-windows', {
    name: 'work',
    kind: 'once',
    timezone: 'UTC',
    starts_at_local: '2026-01-01T00:00:00',
    duration_seconds: 86_400,
    targets: { tags: ['worked-on'] },
  })
  if (created.status !== 201) throw new Error(created.text)
  windowId = created.body.id
})

/** One random sequence of actions, with its own monitors in the shared world of this file. */
class Walk {
  readonly ids = new Map<string, string>()
  private group = ''
  private reported = new Map<string, 'degraded' | 'down' | null>()
  private seen = 0
  private readonly improvementCounts = new Map<string, number>()
  private maintained = false
  private readonly transact = w.hub.store.transact

  async begin(): Promise<void> {
    this.seen = (await this.rowsOfFeed()).at(-1)?.position ?? 0
    for (const name of names) {
      const depends_on = name === 'shop' ? [this.id('router')] : []
      this.ids.set(
        name,
        await this.make({
          type: 'http',
          name,
          target: 'https://a.example.com/',
          interval_seconds: 60,
          depends_on,
          tags: ['worked-on'],
        }),
      )
    }
    const options = { members: [this.id('shop'), this.id('site')], rule: 'all' }
    this.group = await this.make({ type: 'group', name: 'both', options })
    this.ids.set('both', this.group)
  }

  private async make(body: object): Promise<string> {
    const created = await w.acme.call('POST', '/v1/monitors', body)
    if (created.status !== 201) throw new Error(created.text)
    await w.settle()
    return created.body.id
  }

  id = (name: string): string => this.ids.get(name)!

  async do(action: Action): Promise<void> {
    switch (action.do) {
      case 'result':
        for (let n = 0; n < action.times; n++) {
          w.engine.report({ monitor: this.id(action.of), status: action.status })
          await w.advance(1000)
        }
        break
      case 'late':
        w.engine.report({ monitor: this.id(action.of), status: 'down', at: w.clock.now() - 40_000 })
        break
      case 'again': {
        const one = w.engine.result({ monitor: this.id(action.of), status: 'down' })
        w.engine.reportAll([one, one])
        break
      }
      case 'outdated':
        w.engine.report({ monitor: this.id(action.of), status: 'down', revision: 0 })
        break
      case 'pass':
        // A running hub ticks every second; a longer pause means it was suspended.
        for (let left = action.ms; left > 0; left -= 6000) await w.advance(Math.min(left, 6000))
        break
      case 'jump':
        w.clock.jump(action.ms)
        await w.advance(1000)
        break
      case 'edit':
        await w.acme.call('PATCH', `/v1/monitors/${this.id(action.of)}`, { target: `https://a.example.com/${w.clock.now()}` })
        break
      case 'pause':
      case 'resume':
      case 'reset':
        if ((await this.post(`/v1/monitors/${this.id(action.of)}/${action.do}`)) && action.do !== 'resume')
          await this.ended(action.of)
        break
      case 'maintain':
        if (
          action.on !== this.maintained &&
          (await this.post(`/v1/maintenance-windows/${windowId}/${action.on ? 'start' : 'stop'}`))
        )
          this.maintained = action.on
        break
      case 'impaired':
        w.engine.pulse({ impaired: action.on ? 'No resolver answers.' : null })
        break
      case 'disk':
        w.hub.store.transact = action.full ? () => Promise.reject(new Error('disk full')) : this.transact
        break
      case 'lose commit':
        w.hub.store.transact = async fn => {
          w.hub.store.transact = this.transact
          await this.transact(fn)
          throw new Error('The connection was lost.')
        }
        break
      case 'restart':
        await w.monitoring.stop()
        await this.start()
        break
      case 'kill':
        await die(w.monitoring)
        await this.start()
        break
    }
    await w.settle()
  }

  /** Sends a request, and repeats it after an error: its commit may have been lost. @returns whether it succeeded */
  private async post(path: string): Promise<boolean> {
    const first = await w.acme.call('POST', path)
    return (first.status < 500 ? first : await w.acme.call('POST', path)).status === 200
  }

  private async start(): Promise<void> {
    w.engine = new ScriptedEngine(w.hub)
    w.monitoring = await startMonitoring(w.hub, w.engine)
  }

  /** A pause or reset ends everything reported about a monitor. */
  private async ended(name: string): Promise<void> {
    await this.follow()
    this.reported.set(this.id(name), null)
  }

  private rowsOfFeed() {
    return w.hub.read
      .select()
      .from(events)
      .where(and(eq(events.workspaceId, w.acme.workspaceId), inArray(events.kind, ['monitor.alert', 'monitor.recovered'])))
      .orderBy(asc(events.position))
  }

  /** Each level of an outage is reported once, in order, and so is its recovery; nothing starts during maintenance. */
  async follow(quietOnly = false): Promise<void> {
    const rows = (await this.rowsOfFeed()).filter(row => row.position > this.seen)
    for (const row of rows) {
      this.seen = row.position
      const { data } = JSON.parse(row.body)
      const before = this.reported.get(row.resourceId) ?? null
      if (row.kind === 'monitor.recovered') {
        expect(before).not.toBeNull()
        this.reported.set(row.resourceId, null)
        expect(data.downtime_seconds).toBeGreaterThanOrEqual(0)
        continue
      }
      expect(quietOnly && row.resourceId !== this.group).toBe(false)
      if (data.status === 'degraded') expect(before).toBeNull()
      // Worse again after an improvement.
      else if (before === 'down') expect(await this.improvements(data.incident.id)).toBe(this.nextImprovement(data.incident.id))
      expect(data.incident?.status).not.toBe('resolved')
      this.reported.set(row.resourceId, data.status)
    }
  }

  /** How often an improvement was reported. There are no events for that, but it is in the timeline. */
  private async improvements(incident: string): Promise<number> {
    const updates = await w.hub.read.select().from(incidentUpdates).where(eq(incidentUpdates.incidentId, incident))
    return updates.filter(one => one.kind === 'improved').length
  }

  /** Counts the improvements seen so far. */
  private nextImprovement(incident: string): number {
    const times = (this.improvementCounts.get(incident) ?? 0) + 1
    this.improvementCounts.set(incident, times)
    return times
  }

  isMaintained(): boolean {
    const covered = { id: this.id('site'), workspaceId: w.acme.workspaceId, tags: ['worked-on'], groupIds: [] }
    return activeWindow(w.hub, covered, w.clock.now()) !== null
  }

  async check(): Promise<void> {
    for (const [name, id] of this.ids) {
      const [row] = await w.hub.read.select().from(monitors).where(eq(monitors.id, id))
      const own = await w.hub.read.select().from(incidents).where(eq(incidents.subjectId, id)).orderBy(asc(incidents.id))
      const open = own.filter(one => one.status !== 'resolved')
      // An incident is open if an outage was reported and its recovery was not.
      expect([name, open.length]).toEqual([name, row!.state.outage?.notified ? 1 : 0])
      if (this.reported.get(id) === 'down' && open[0]?.kind === 'monitor.degraded') {
        expect(await this.improvements(open[0].id)).toBe(this.nextImprovement(open[0].id))
        this.reported.set(id, 'degraded')
      }
      expect([name, this.reported.get(id) ?? null]).toEqual([name, row!.state.outage?.notified ?? null])
      for (const [n, one] of own.entries()) {
        if (n === 0) continue
        expect([name, one.startedAt >= own[n - 1]!.resolvedAt!]).toEqual([name, true])
      }
      const path = await w.hub.read
        .select()
        .from(monitorTransitions)
        .where(eq(monitorTransitions.monitorId, id))
        .orderBy(asc(monitorTransitions.id))
      let status = 'new'
      let at = 0
      for (const one of path) {
        expect([name, one.from, one.at >= at]).toEqual([name, status as typeof one.from, true])
        status = one.to
        at = one.at
      }
      expect([name, row!.status, row!.statusSince]).toEqual([name, status as any, path.length > 0 ? at : row!.statusSince])
    }
    await this.checkGroup()
  }

  /** The group has the status that follows from its members. */
  private async checkGroup(): Promise<void> {
    const rows = await w.hub.read
      .select()
      .from(monitors)
      .where(inArray(monitors.id, [...this.ids.values()]))
    const own = rows.filter(row => row.name === 'shop' || row.name === 'site')
    // The group is judged a tick later than a member whose results have just become too old.
    if (own.some(row => row.statusSince! > w.clock.now() - 1000)) return
    const members = own.map(({ status, state: { suppressed } }) => ({
      status,
      excusedBy: suppressed?.cause === 'dependency' ? suppressed.by : null,
    }))
    const group = rows.find(row => row.id === this.group)!
    const { verdict } = groupVerdict(members, 'all')
    // It stays new until a member has a status.
    expect([members, group.status]).toEqual([members, verdict === 'unknown' && group.status === 'new' ? 'new' : verdict])
  }

  /** Everything recovers: the final state is the same whatever happened before. */
  async rest(): Promise<void> {
    w.hub.store.transact = this.transact
    await this.do({ do: 'maintain', on: false })
    await this.do({ do: 'impaired', on: false })
    for (const name of names) await this.do({ do: 'resume', of: name })
    await w.advance(6000)
    await w.advance(1000)
    // Long enough for flapping to stop.
    for (let n = 0; n < 25; n++) {
      w.engine.reportAll(names.map(name => ({ monitor: this.id(name) })))
      await w.advance(60_000)
      await renewPresence(w.hub)
    }
    await w.advance(1000)
    await this.follow()
    await this.check()
    const rows = await w.hub.read
      .select()
      .from(monitors)
      .where(inArray(monitors.id, [...this.ids.values()]))
    expect(rows.map(row => [row.name, row.status, row.state.outage, row.state.suppressed])).toEqual(
      expect.arrayContaining([...names, 'both'].map(name => [name, 'up', null, null])),
    )
    for (const id of this.ids.values()) await w.acme.call('DELETE', `/v1/monitors/${id}`)
    await w.settle()
  }
}

/** Ends the monitoring of a hub as if its process were killed: nothing more is written. */
async function die(watch: MonitoringWatch): Promise<void> {
  const inside = watch as unknown as { stopped: boolean; timer: { cancel(): void } | null; unsubscribe(): void }
  inside.stopped = true
  inside.timer?.cancel()
  inside.unsubscribe()
  await watch.settled()
}

test('each outage has one incident and is reported once, for any results, actions, and failures', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyAction, { minLength: 5, maxLength: 40 }), async actions => {
      const walk = new Walk()
      await walk.begin()
      let full = false
      try {
        for (const action of actions) {
          const wasMaintained = walk.isMaintained()
          await walk.do(action)
          if (action.do === 'disk') full = action.full
          if (action.do === 'lose commit') full = false
          await walk.follow(wasMaintained && walk.isMaintained())
          if (full || action.do === 'lose commit') continue
          await w.advance(6000)
          // Monitors are judged a tick later than those they follow.
          await w.advance(1000)
          await walk.follow(wasMaintained && walk.isMaintained())
          await walk.check()
        }
      } finally {
        await walk.rest()
      }
    }),
    { numRuns: 8, endOnFailure: true },
  )
})
