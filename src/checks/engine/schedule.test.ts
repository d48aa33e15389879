import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ManualEngineClock } from '../../../test/support/engine-clock'
import { phaseOf } from './phase'
import { Schedule, tickMs, type ScheduleEntry } from './schedule'

interface Entry extends ScheduleEntry {
  /** When it was due, and when it started (monotonic). */
  ran: { due: number; at: number }[]
}

const entryOf = (id: string, intervalMs: number): Entry => ({
  id,
  intervalMs,
  tick: null,
  dueAt: 0,
  startedAt: -Infinity,
  ran: [],
})

/** Starts everything that is due, like an engine. */
function start(clock: ManualEngineClock, schedule: Schedule<Entry>): number {
  const due = schedule.due()
  for (const entry of due) {
    entry.startedAt = clock.monotonic()
    entry.ran.push({ due: entry.dueAt, at: clock.monotonic() })
    schedule.scheduleNext(entry)
  }
  return due.length
}

const intervals = fc.constantFrom(5000, 7000, 10_000, 30_000, 60_000, 300_000)

describe('scheduled runs', () => {
  test('happen once per interval at their phase, however the time steps fall', () => {
    fc.assert(
      fc.property(
        fc.array(intervals, { minLength: 1, maxLength: 20 }),
        fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 50, maxLength: 400 }),
        (spans, steps) => {
          const clock = new ManualEngineClock()
          const schedule = new Schedule<Entry>(clock)
          const all = spans.map((span, at) => entryOf(`mon_${at}`, span))
          for (const entry of all) schedule.add(entry)
          let window = 0
          for (const step of steps) {
            clock.block(step)
            window += step
            start(clock, schedule)
          }
          expect(schedule.skipped).toBe(0)
          for (const { id, intervalMs, ran } of all) {
            expect(Math.abs(ran.length - Math.floor(window / intervalMs))).toBeLessThanOrEqual(1)
            const phase = phaseOf(id, intervalMs)
            expect(ran.every(({ due }) => (due - phase) % intervalMs === 0)).toBe(true)
            expect(ran.every(({ due }, at) => at === 0 || due - ran[at - 1]!.due === intervalMs)).toBe(true)
          }
        },
      ),
      { numRuns: 50 },
    )
  })

  test('that were missed are counted and skipped, not caught up together', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(5000, 10_000, 30_000), { minLength: 1, maxLength: 30 }),
        fc.array(fc.integer({ min: 1, max: 12_000 }), { minLength: 20, maxLength: 100 }),
        (spans, steps) => {
          const clock = new ManualEngineClock()
          const schedule = new Schedule<Entry>(clock)
          const all = spans.map((span, at) => entryOf(`mon_${at}`, span))
          for (const entry of all) schedule.add(entry)
          for (const step of steps) {
            clock.block(step)
            start(clock, schedule)
          }
          for (const { ran } of all) {
            expect(ran.every(({ at }, n) => n === 0 || at - ran[n - 1]!.at >= 5000 / 2)).toBe(true)
            expect(new Set(ran.map(({ due }) => due)).size).toBe(ran.length)
          }
        },
      ),
      { numRuns: 50 },
    )
    const clock = new ManualEngineClock()
    const schedule = new Schedule<Entry>(clock)
    for (let n = 0; n < 1000; n++) schedule.add(entryOf(`mon_${n}`, 10_000))
    clock.block(10_000)
    const late = start(clock, schedule)
    // Those of the last second are late, but within the tolerance.
    expect(late).toBeGreaterThan(50)
    expect(late).toBeLessThan(200)
    expect(schedule.skipped).toBe(1000 - late)
  })

  test('are neither crowded nor delayed by clock changes, forward or back', () => {
    fc.assert(
      fc.property(
        intervals,
        fc.array(fc.tuple(fc.integer({ min: 100, max: 40_000 }), fc.integer({ min: -90_000_000, max: 90_000_000 })), {
          minLength: 1,
          maxLength: 12,
        }),
        (intervalMs, jumps) => {
          const clock = new ManualEngineClock()
          const schedule = new Schedule<Entry>(clock)
          const entry = entryOf('mon_1', intervalMs)
          schedule.add(entry)
          const startedAt = clock.monotonic()
          for (const [passed, ahead] of jumps) {
            for (let left = passed; left > 0; left -= tickMs) {
              clock.block(tickMs)
              start(clock, schedule)
            }
            clock.set(ahead)
          }
          const gaps = [...entry.ran.map(({ at }) => at), clock.monotonic()].map(
            (at, n) => at - (entry.ran[n - 1]?.at ?? startedAt),
          )
          // Clock changes of less than a second move the wheel without rescheduling.
          const slewed = jumps.reduce((sum, [, ahead]) => sum + (Math.abs(ahead) < 1000 ? Math.abs(ahead) : 0), 0)
          expect(gaps.slice(1, -1).every(gap => gap >= intervalMs / 2 - slewed)).toBe(true)
          expect(gaps.slice(1).every(gap => gap <= 1.5 * intervalMs + 2 * tickMs + slewed)).toBe(true)
        },
      ),
      { numRuns: 100 },
    )
  })

  test('resume on schedule after the machine slept: they do not all run at once, and missed ones are counted', () => {
    const clock = new ManualEngineClock()
    const schedule = new Schedule<Entry>(clock)
    for (let n = 0; n < 600; n++) schedule.add(entryOf(`mon_${n}`, 60_000))
    clock.set(8 * 3_600_000)
    clock.block(100)
    expect(start(clock, schedule)).toBeLessThan(10)
    expect(schedule.skipped).toBeGreaterThan(590)
    let max = 0
    let all = 0
    for (let passed = 0; passed < 60_000; passed += 100) {
      clock.block(100)
      const started = start(clock, schedule)
      max = Math.max(max, started)
      all += started
    }
    expect(max).toBeLessThan(10)
    expect(Math.abs(all - 600)).toBeLessThan(10)
  })

  test('with a long interval are caught up within a minute if missed', () => {
    const clock = new ManualEngineClock()
    const schedule = new Schedule<Entry>(clock)
    const daily = entryOf('mon_1', 86_400_000)
    schedule.add(daily)
    for (let passed = 0; passed <= 60_000; passed += 100) {
      clock.block(100)
      start(clock, schedule)
    }
    expect(daily.ran.length).toBe(1)
    clock.set(3 * 86_400_000)
    for (let passed = 0; passed <= 60_000; passed += 100) {
      clock.block(100)
      start(clock, schedule)
    }
    expect(daily.ran.length).toBe(2)
  })

  test('that are due immediately are spread over the next ticks', () => {
    const clock = new ManualEngineClock()
    const schedule = new Schedule<Entry>(clock)
    for (let n = 0; n < 1000; n++) schedule.addImmediately(entryOf(`mon_${n}`, 30_000))
    const started: number[] = []
    for (let tick = 0; tick < 25; tick++) {
      clock.block(100)
      started.push(start(clock, schedule))
    }
    expect(Math.max(...started)).toBeLessThanOrEqual(60)
    expect(started.slice(0, 20).every(count => count >= 50)).toBe(true)
  })
})

test('phases are spread evenly over an interval, for ids of any kind', () => {
  for (const name of [(n: number) => `mon_${n}`, (n: number) => `mon_01jd${n.toString(32).padStart(20, '0')}`]) {
    const counts = Array.from({ length: 30 }, () => 0)
    for (let n = 0; n < 9000; n++) counts[Math.floor(phaseOf(name(n), 30_000) / 1000)]!++
    expect(Math.min(...counts)).toBeGreaterThan(230)
    expect(Math.max(...counts)).toBeLessThan(370)
  }
})
