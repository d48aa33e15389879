import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { monitorStatuses } from '../shapes'
import { errorBudget, outagesOf, sumOf, timeByStatus, stretchesOf, uptimePercent, type Timeline } from './uptime'

const moment = fc.integer({ min: 0, max: 10_000 })
const status = fc.constantFrom(...monitorStatuses)
const timeline: fc.Arbitrary<Timeline> = fc.record({
  transitions: fc.array(fc.record({ at: moment, to: status })).map(all => all.toSorted((a, b) => a.at - b.at)),
  first: status,
  gaps: fc.array(fc.tuple(moment, moment).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }))),
})
const cuts = fc.uniqueArray(moment, { minLength: 2, maxLength: 12 }).map(all => all.toSorted((a, b) => a - b))

test('the times of a window are the sum of the times of its parts, wherever it is split', () => {
  fc.assert(
    fc.property(timeline, cuts, (input, edges) => {
      const [from, to] = [edges[0]!, edges.at(-1)!]
      const [whole] = timeByStatus(stretchesOf(input, from, to), [from, to])
      expect(sumOf(timeByStatus(stretchesOf(input, from, to), edges))).toEqual(whole!)
      // Also if each part is computed separately.
      const apart = edges.slice(0, -1).map((edge, place) => {
        const next = edges[place + 1]!
        const before = input.transitions.findLast(one => one.at <= edge)
        const own = { ...input, first: before?.to ?? input.first, transitions: input.transitions.filter(one => one.at > edge) }
        return timeByStatus(stretchesOf(own, edge, next), [edge, next])[0]!
      })
      expect(sumOf(apart)).toEqual(whole!)
    }),
  )
})

test('every moment of a window is in exactly one stretch, and adjacent stretches differ', () => {
  fc.assert(
    fc.property(timeline, cuts, (input, edges) => {
      const [from, to] = [edges[0]!, edges.at(-1)!]
      const all = stretchesOf(input, from, to)
      expect([all[0]!.from, all.at(-1)!.to]).toEqual([from, to])
      for (const [place, stretch] of all.entries()) {
        expect(stretch.to).toBeGreaterThan(stretch.from)
        const next = all[place + 1]
        if (next) expect([next.from, next.status === stretch.status]).toEqual([stretch.to, false])
      }
    }),
  )
})

test('the downtime of all outages is the time down', () => {
  fc.assert(
    fc.property(timeline, cuts, (input, edges) => {
      const [from, to] = [edges[0]!, edges.at(-1)!]
      const all = stretchesOf(input, from, to)
      const down = outagesOf(all).reduce((sum, one) => sum + one.downMs, 0)
      expect(down).toBe(timeByStatus(all, [from, to])[0]!.down)
    }),
  )
})

test('an outage continues through unknown time and maintenance, and ends when the monitor is up', () => {
  const transitions = [
    { at: 100, to: 'down' as const },
    { at: 300, to: 'maintenance' as const },
    { at: 400, to: 'down' as const },
    { at: 600, to: 'up' as const },
    { at: 900, to: 'down' as const },
  ]
  const all = stretchesOf({ transitions, first: 'up', gaps: [{ from: 150, to: 200 }] }, 0, 1000)
  expect(outagesOf(all)).toEqual([
    { from: 100, to: 600, downMs: 350 },
    { from: 900, to: null, downMs: 100 },
  ])
  const [spent] = timeByStatus(all, [0, 1000])
  expect(spent).toEqual({ up: 400, degraded: 0, down: 450, maintenance: 100, paused: 0, unknown: 50 })
  expect(uptimePercent(spent!)).toBe(47.05882)
})

test('paused time stays paused in periods without checks', () => {
  const all = stretchesOf({ transitions: [], first: 'paused', gaps: [{ from: 10, to: 20 }] }, 0, 100)
  expect(all).toEqual([{ from: 0, to: 100, status: 'paused' }])
})

test('reports 100 percent only without any downtime', () => {
  const year = 365 * 86_400_000
  const spent = { up: year - 1, degraded: 0, down: 1, maintenance: 0, paused: 0, unknown: 0 }
  expect(uptimePercent(spent)).toBe(99.99999)
  expect(uptimePercent({ ...spent, down: 0 })).toBe(100)
  expect(uptimePercent({ ...spent, up: 0, down: 0 })).toBeNull()
})

test('reports round percentages exactly', () => {
  const spent = { degraded: 0, maintenance: 0, paused: 0, unknown: 0 }
  for (let thousandths = 0; thousandths <= 1000; thousandths++)
    for (const unit of [1, 86_400, 31_536_000])
      expect(uptimePercent({ ...spent, up: thousandths * unit, down: (1000 - thousandths) * unit })).toBe(thousandths / 10)
})

test('the error budget is the share of counted time that the objective allows as downtime', () => {
  const spent = { up: 999_000, degraded: 0, down: 1000, maintenance: 50_000, paused: 0, unknown: 9_000 }
  const { allowed, consumed, remaining } = errorBudget(spent, 99.5)
  expect([allowed, consumed, remaining]).toEqual([5000, 1000, 4000])
})

test('downtime of exactly the allowed time leaves an empty error budget', () => {
  const spent = { up: 999_000, degraded: 0, down: 1000, maintenance: 0, paused: 0, unknown: 0 }
  expect(errorBudget(spent, 99.9)).toEqual({ allowed: 1000, consumed: 1000, remaining: 0 })
})

test('uptime is 100 exactly if nothing was down', () => {
  const ms = fc.integer({ min: 0, max: 100 * 365 * 86_400_000 })
  fc.assert(
    fc.property(ms, ms, ms, (up, degraded, down) => {
      const percent = uptimePercent({ up, degraded, down, maintenance: 0, paused: 0, unknown: 0 })
      if (up + degraded + down === 0) expect(percent).toBeNull()
      else expect(percent === 100).toBe(down === 0)
    }),
  )
})
