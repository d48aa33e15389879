import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { and, asc, eq, inArray } from 'drizzle-orm'
import fc from 'fast-check'
import { events } from '../../src/core/db/tables'
import { windowInForce } from '../../src/features/maintenance/calendar'
import { incidents, incidentUpdates } from '../../src/features/incidents/tables'
import { startMonitoring, type MonitoringWatch } from '../../src/features/monitors/live/watch'
import { monitors, monitorTransitions } from '../../src/features/monitors/tables'
import { renewPresence } from '../../src/hub/presence'
import { ScriptedEngine } from '../support/scripted-engine'
import { world, type World } from '../support/world'

setDefaultTimeout(120_000)

const names = ['router', 'shop', 'site'] as const
type Name = (typeof names)[number]
type Status = 'up' | 'degraded' | 'down'

type Deed =
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
const anyDeed: fc.Arbitrary<Deed> = fc.oneof(
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
  const made = await w.acme.call('POST', '/v1/maintenance-windows', {
    name: 'work',
    kind: 'once',
    timezone: 'UTC',
    starts_at_local: '2026-01-01T00:00:00',
    duration_seconds: 86_400,
    targets: { tags: ['worked-on'] },
  })
  if (made.status !== 201) throw new Error(made.text)
  windowId = made.body.id
})

/** One walk through the deeds: monitors of its own in the world of the file. */
class Walk {
  readonly ids = new Map<string, string>()
  private group = ''
  private told = new Map<string, 'degraded' | 'down' | null>()
  private seen = 0
  private readonly eased = new Map<string, number>()
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
    const made = await w.acme.call('POST', '/v1/monitors', body)
    if (made.status !== 201) throw new Error(made.text)
    await w.settle()
    return made.body.id
  }

  id = (name: string): string => this.ids.get(name)!

  async do(deed: Deed): Promise<void> {
    switch (deed.do) {
      case 'result':
        for (let n = 0; n < deed.times; n++) {
          w.engine.say({ monitor: this.id(deed.of), status: deed.status })
          await w.pass(1000)
        }
        break
      case 'late':
        w.engine.say({ monitor: this.id(deed.of), status: 'down', at: w.clock.now() - 40_000 })
        break
      case 'again': {
        const one = w.engine.result({ monitor: this.id(deed.of), status: 'down' })
        w.engine.sayAll([one, one])
        break
      }
      case 'outdated':
        w.engine.say({ monitor: this.id(deed.of), status: 'down', revision: 0 })
        break
      case 'pass':
        // A hub that is awake looks each second; one that is not for longer has slept.
        for (let left = deed.ms; left > 0; left -= 6000) await w.pass(Math.min(left, 6000))
        break
      case 'jump':
        w.clock.jump(deed.ms)
        await w.pass(1000)
        break
      case 'edit':
        await w.acme.call('PATCH', `/v1/monitors/${this.id(deed.of)}`, { target: `https://a.example.com/${w.clock.now()}` })
        break
      case 'pause':
      case 'resume':
      case 'reset':
        if ((await w.acme.call('POST', `/v1/monitors/${this.id(deed.of)}/${deed.do}`)).status === 200 && deed.do !== 'resume')
          await this.ended(deed.of)
        break
      case 'maintain':
        if (deed.on !== this.maintained) {
          const answer = await w.acme.call('POST', `/v1/maintenance-windows/${windowId}/${deed.on ? 'start' : 'stop'}`)
          if (answer.status === 200) this.maintained = deed.on
        }
        break
      case 'impaired':
        w.engine.pulse({ impaired: deed.on ? 'No resolver answers.' : null })
        break
      case 'disk':
        w.hub.store.transact = deed.full ? () => Promise.reject(new Error('disk full')) : this.transact
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

  private async start(): Promise<void> {
    w.engine = new ScriptedEngine(w.clock)
    w.monitoring = await startMonitoring(w.hub, w.engine)
  }

  /** What was told of a monitor before somebody paused or reset it is over. */
  private async ended(name: string): Promise<void> {
    await this.follow()
    this.told.set(this.id(name), null)
  }

  private rowsOfFeed() {
    return w.hub.read
      .select()
      .from(events)
      .where(and(eq(events.workspaceId, w.acme.workspaceId), inArray(events.kind, ['monitor.alert', 'monitor.recovered'])))
      .orderBy(asc(events.position))
  }

  /** Of one outage each level is told once, in order, and its end once; nothing begins while there is maintenance. */
  async follow(quietOnly = false): Promise<void> {
    const rows = (await this.rowsOfFeed()).filter(row => row.position > this.seen)
    for (const row of rows) {
      this.seen = row.position
      const { data } = JSON.parse(row.body)
      const before = this.told.get(row.resourceId) ?? null
      if (row.kind === 'monitor.recovered') {
        expect(before).not.toBeNull()
        this.told.set(row.resourceId, null)
        expect(data.downtime_seconds).toBeGreaterThanOrEqual(0)
        continue
      }
      expect(quietOnly && row.resourceId !== this.group).toBe(false)
      if (data.status === 'degraded') expect(before).toBeNull()
      // Worse again after it was better for a while.
      else if (before === 'down') expect(await this.easings(data.incident.id)).toBe(this.worsened(data.incident.id))
      expect(data.incident?.status).not.toBe('resolved')
      this.told.set(row.resourceId, data.status)
    }
  }

  /** How often it was told that something is better, though not well: no events tell that, but the timeline does. */
  private async easings(incident: string): Promise<number> {
    const updates = await w.hub.read.select().from(incidentUpdates).where(eq(incidentUpdates.incidentId, incident))
    return updates.filter(one => one.kind === 'eased').length
  }

  /** Counts how often that was followed. */
  private worsened(incident: string): number {
    const times = (this.eased.get(incident) ?? 0) + 1
    this.eased.set(incident, times)
    return times
  }

  isMaintained(): boolean {
    const covered = { id: this.id('site'), workspaceId: w.acme.workspaceId, tags: ['worked-on'], groupIds: [] }
    return windowInForce(w.hub, covered, w.clock.now()) !== null
  }

  async check(): Promise<void> {
    for (const [name, id] of this.ids) {
      const [row] = await w.hub.read.select().from(monitors).where(eq(monitors.id, id))
      const own = await w.hub.read.select().from(incidents).where(eq(incidents.subjectId, id)).orderBy(asc(incidents.id))
      const open = own.filter(one => one.status !== 'resolved')
      // An incident is unresolved as long as people were told of an outage and not of its end.
      expect([name, open.length]).toEqual([name, row!.state.outage?.told ? 1 : 0])
      if (this.told.get(id) === 'down' && open[0]?.kind === 'monitor.degraded') {
        expect(await this.easings(open[0].id)).toBe(this.worsened(open[0].id))
        this.told.set(id, 'degraded')
      }
      expect([name, this.told.get(id) ?? null]).toEqual([name, row!.state.outage?.told ?? null])
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
  }

  /** All is well again: whatever happened before, this is how it ends. */
  async rest(): Promise<void> {
    w.hub.store.transact = this.transact
    await this.do({ do: 'maintain', on: false })
    await this.do({ do: 'impaired', on: false })
    for (const name of names) await this.do({ do: 'resume', of: name })
    await w.pass(6000)
    await w.pass(1000)
    // Long enough for what flapped to come to rest.
    for (let n = 0; n < 25; n++) {
      w.engine.sayAll(names.map(name => ({ monitor: this.id(name) })))
      await w.pass(60_000)
      await renewPresence(w.hub)
    }
    await w.pass(1000)
    await this.follow()
    await this.check()
    const rows = await w.hub.read
      .select()
      .from(monitors)
      .where(inArray(monitors.id, [...this.ids.values()]))
    expect(rows.map(row => [row.name, row.status, row.state.outage, row.state.held])).toEqual(
      expect.arrayContaining([...names, 'both'].map(name => [name, 'up', null, null])),
    )
    for (const id of this.ids.values()) await w.acme.call('DELETE', `/v1/monitors/${id}`)
    await w.settle()
  }
}

/** The monitoring of a hub ends as when its process is killed: nothing more is written. */
async function die(watch: MonitoringWatch): Promise<void> {
  const inside = watch as unknown as { stopped: boolean; timer: { cancel(): void } | null; off(): void }
  inside.stopped = true
  inside.timer?.cancel()
  inside.off()
  await watch.settled()
}

test('whatever is found, done and broken: of one outage there is one incident, and it is told once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyDeed, { minLength: 5, maxLength: 40 }), async deeds => {
      const walk = new Walk()
      await walk.begin()
      let full = false
      try {
        for (const deed of deeds) {
          const sheltered = walk.isMaintained()
          await walk.do(deed)
          if (deed.do === 'disk') full = deed.full
          if (deed.do === 'lose commit') full = false
          await walk.follow(sheltered && walk.isMaintained())
          if (!full && deed.do !== 'lose commit') await w.pass(6000)
          if (!full && deed.do !== 'lose commit') await walk.follow(sheltered && walk.isMaintained())
          if (!full && deed.do !== 'lose commit') await walk.check()
        }
      } finally {
        await walk.rest()
      }
    }),
    { numRuns: 8, endOnFailure: true },
  )
})
