import { describe, expect, test } from 'bun:test'
import { asc, eq } from 'drizzle-orm'
import fc from 'fast-check'
import { record } from '../../src/core/change'
import { newId } from '../../src/core/ids'
import { addAffected, incidentEventData, maxReopenings, reopenWithinMs } from '../../src/features/incidents/outages/outages'
import { incidents, incidentSubjects, incidentUpdates } from '../../src/features/incidents/tables'
import { endOutage as resolve, openOutage as open } from '../support/outages'
import { world, type World } from '../support/world'

const timeline = async (w: World, incidentId: string) =>
  await w.hub.read
    .select()
    .from(incidentUpdates)
    .where(eq(incidentUpdates.incidentId, incidentId))
    .orderBy(asc(incidentUpdates.id))

const kindsOf = async (w: World, incidentId: string): Promise<string[]> => (await timeline(w, incidentId)).map(one => one.kind)

describe('an outage', () => {
  test('opens one incident at the first failure and records its duration', async () => {
    const w = await world()
    const id = newId('mon')
    const { incident, opened } = await open(w, id)
    expect(opened).toBe(true)
    expect(incidentEventData(incident)).toMatchObject({
      status: 'open',
      severity: 'critical',
      cause: 'HTTP 503',
      resolved_at: null,
    })
    expect(incident.startedAt).toBe(w.clock.now() - 15_000)
    expect(await open(w, id)).toMatchObject({ opened: false, reopened: false, incident: { id: incident.id } })
    w.clock.advance(383_000 - 15_000)
    expect(await resolve(w, id)).toMatchObject({ id: incident.id, status: 'resolved', resolution: 'recovered' })
    expect(await resolve(w, id)).toBeNull()
    expect((await timeline(w, incident.id)).map(one => `${one.kind}: ${one.text}`)).toEqual([
      'opened: HTTP 503',
      'resolved: Recovered after 6 min 23 s.',
    ])
    expect(await w.audited()).toEqual(['incident.open', 'incident.resolve'])
  })

  test('within ten minutes of the last one reopens its incident; the time between is not counted', async () => {
    const w = await world()
    const id = newId('mon')
    const first = await open(w, id)
    w.clock.advance(60_000)
    await resolve(w, id)
    w.clock.advance(reopenWithinMs + 15_000)
    expect(await open(w, id)).toMatchObject({
      opened: false,
      reopened: true,
      incident: { id: first.incident.id, status: 'open' },
    })
    w.clock.advance(60_000)
    await resolve(w, id)
    expect((await timeline(w, first.incident.id)).at(-1)!.text).toBe('Recovered after 2 min 30 s.')
    w.clock.advance(reopenWithinMs + 15_001)
    const other = await open(w, id)
    expect(other.opened).toBe(true)
    expect(other.incident.id).not.toBe(first.incident.id)
    expect(await w.audited()).toEqual([
      'incident.open',
      'incident.resolve',
      'incident.reopen',
      'incident.resolve',
      'incident.open',
    ])
  })

  test('opens a new incident after twenty reopenings', async () => {
    const w = await world()
    const id = newId('mon')
    const found: string[] = []
    for (let n = 0; n < maxReopenings + 2; n++) {
      found.push((await open(w, id)).incident.id)
      w.clock.advance(60_000)
      await resolve(w, id)
    }
    expect(new Set(found.slice(0, -1)).size).toBe(1)
    expect(found.at(-1)).not.toBe(found[0])
  })

  test('that gets worse raises the severity of its incident, and one that improves is recorded', async () => {
    const w = await world()
    const id = newId('mon')
    const { incident } = await open(w, id, { kind: 'monitor.degraded', severity: 'warning', cause: '2.1 s' })
    const worse = await open(w, id)
    expect(worse.incident).toMatchObject({ id: incident.id, kind: 'monitor.down', severity: 'critical', cause: 'HTTP 503' })
    const improved = await open(w, id, { kind: 'monitor.degraded', severity: 'warning', cause: '2.1 s' })
    expect(improved.incident).toMatchObject({ kind: 'monitor.degraded', severity: 'warning', title: 'Shop is degraded' })
    expect(await kindsOf(w, incident.id)).toEqual(['opened', 'worsened', 'improved'])
    expect(await w.audited()).toEqual(['incident.open', 'incident.worsen'])
  })

  test('of a dependent subject is added to the parent’s incident once', async () => {
    const w = await world()
    const [parent, child] = [newId('mon'), newId('mon')]
    const addChild = () =>
      record(w.hub, async tx => {
        const subject = { type: 'monitor' as const, id: child, name: 'Cart', tags: [] }
        const { incident, ...drafts } = await addAffected(tx, w.hub, { parentSubject: parent, subject, at: w.clock.now() })
        return { result: incident, ...drafts }
      })
    expect(await addChild()).toBeNull()
    const { incident } = await open(w, parent)
    await addChild()
    await addChild()
    const listed = await w.hub.read.select().from(incidentSubjects).where(eq(incidentSubjects.incidentId, incident.id))
    expect(listed.map(one => `${one.name} ${one.role}`).sort()).toEqual(['Cart affected', 'Shop cause'])
    expect(await kindsOf(w, incident.id)).toEqual(['opened', 'affected'])
  })

  test('detected concurrently opens one incident', async () => {
    const w = await world()
    const id = newId('mon')
    const found = await Promise.all([open(w, id), open(w, id), open(w, id)])
    expect(found.filter(one => one.opened)).toHaveLength(1)
    expect(new Set(found.map(one => one.incident.id)).size).toBe(1)
  })

  test('limits evidence to 16 KiB and the cause to one line', async () => {
    const w = await world()
    const { incident } = await open(w, newId('mon'), { evidence: { body: 'x'.repeat(60_000) }, cause: 'HTTP 503\n\u0000oops' })
    expect(JSON.stringify(incident.evidence).length).toBeLessThanOrEqual(16 * 1024)
    expect(incident).toMatchObject({ cause: 'HTTP 503 oops', evidence: { truncated: true } })
  })
})

test('any sequence of outages and recoveries leaves at most one unresolved incident and a complete timeline', async () => {
  const w = await world()
  type Step = { do: 'down' | 'degraded' | 'recovered' | 'paused'; after: number }
  const step = fc.record({
    do: fc.constantFrom<Step['do']>('down', 'degraded', 'recovered', 'paused'),
    after: fc.constantFrom(1000, reopenWithinMs - 60_000, reopenWithinMs + 60_000),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async steps => {
      const id = newId('mon')
      const expected: string[][] = []
      let now: { kind: string; resolvedAt: number | null } | null = null
      for (const one of steps) {
        w.clock.advance(one.after)
        const at = w.clock.now()
        if (one.do === 'recovered' || one.do === 'paused') {
          await resolve(w, id, one.do)
          if (now?.resolvedAt === null) {
            expected.at(-1)!.push('resolved')
            now.resolvedAt = at
          }
        } else {
          await open(w, id, { kind: `monitor.${one.do}`, startedAt: at, confirmedAt: at })
          if (now?.resolvedAt === null) {
            if (now.kind !== one.do) expected.at(-1)!.push(one.do === 'down' ? 'worsened' : 'improved')
          } else if (now && at - now.resolvedAt! <= reopenWithinMs) expected.at(-1)!.push('reopened')
          else expected.push(['opened'])
          now = { kind: one.do, resolvedAt: null }
        }
        const rows = await w.hub.read.select().from(incidents).where(eq(incidents.subjectId, id)).orderBy(asc(incidents.id))
        expect(rows.filter(row => row.status !== 'resolved')).toHaveLength(now?.resolvedAt === null ? 1 : 0)
        expect(await Promise.all(rows.map(row => kindsOf(w, row.id)))).toEqual(expected)
      }
    }),
    { numRuns: 25 },
  )
})
