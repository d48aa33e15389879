import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { HandClock } from '../../../test/support/engine-clock'
import { phaseOf } from './phase'
import { Schedule, tickMs, type Turn } from './schedule'

interface One extends Turn {
  /** When it was due, and when it began (monotonic). */
  ran: { due: number; at: number }[]
}

const one = (id: string, intervalMs: number): One => ({ id, intervalMs, tick: null, dueAt: 0, begunAt: -Infinity, ran: [] })

/** Begins all that is due, as an engine does. */
function begin(clock: HandClock, schedule: Schedule<One>): number {
  const due = schedule.due()
  for (const turn of due) {
    turn.begunAt = clock.monotonic()
    turn.ran.push({ due: turn.dueAt, at: clock.monotonic() })
    schedule.again(turn)
  }
  return due.length
}

const intervals = fc.constantFrom(5000, 7000, 10_000, 30_000, 60_000, 300_000)

describe('turns', () => {
  test('each comes once an interval, at its phase and never twice, however time is cut', () => {
    fc.assert(
      fc.property(
        fc.array(intervals, { minLength: 1, maxLength: 20 }),
        fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 50, maxLength: 400 }),
        (spans, steps) => {
          const clock = new HandClock()
          const schedule = new Schedule<One>(clock)
          const all = spans.map((span, at) => one(`mon_${at}`, span))
          for (const turn of all) schedule.join(turn)
          let window = 0
          for (const step of steps) {
            clock.block(step)
            window += step
            begin(clock, schedule)
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

  test('those that were missed are counted and left out, not made up for together', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(5000, 10_000, 30_000), { minLength: 1, maxLength: 30 }),
        fc.array(fc.integer({ min: 1, max: 12_000 }), { minLength: 20, maxLength: 100 }),
        (spans, steps) => {
          const clock = new HandClock()
          const schedule = new Schedule<One>(clock)
          const all = spans.map((span, at) => one(`mon_${at}`, span))
          for (const turn of all) schedule.join(turn)
          for (const step of steps) {
            clock.block(step)
            begin(clock, schedule)
          }
          for (const { ran } of all) {
            expect(ran.every(({ at }, n) => n === 0 || at - ran[n - 1]!.at >= 5000 / 2)).toBe(true)
            expect(new Set(ran.map(({ due }) => due)).size).toBe(ran.length)
          }
        },
      ),
      { numRuns: 50 },
    )
    const clock = new HandClock()
    const schedule = new Schedule<One>(clock)
    for (let n = 0; n < 1000; n++) schedule.join(one(`mon_${n}`, 10_000))
    clock.block(10_000)
    const late = begin(clock, schedule)
    // Those of the last second are late, but not too late.
    expect(late).toBeGreaterThan(50)
    expect(late).toBeLessThan(200)
    expect(schedule.skipped).toBe(1000 - late)
  })

  test('clocks that are set, forward or back, neither crowd them nor keep them away', () => {
    fc.assert(
      fc.property(
        intervals,
        fc.array(fc.tuple(fc.integer({ min: 100, max: 40_000 }), fc.integer({ min: -90_000_000, max: 90_000_000 })), {
          minLength: 1,
          maxLength: 12,
        }),
        (intervalMs, jumps) => {
          const clock = new HandClock()
          const schedule = new Schedule<One>(clock)
          const turn = one('mon_1', intervalMs)
          schedule.join(turn)
          const began = clock.monotonic()
          for (const [passed, ahead] of jumps) {
            for (let left = passed; left > 0; left -= tickMs) {
              clock.block(tickMs)
              begin(clock, schedule)
            }
            clock.set(ahead)
          }
          const gaps = [...turn.ran.map(({ at }) => at), clock.monotonic()].map((at, n) => at - (turn.ran[n - 1]?.at ?? began))
          // The wheel follows clocks that are set by less than a second without moving turns.
          const slewed = jumps.reduce((sum, [, ahead]) => sum + (Math.abs(ahead) < 1000 ? Math.abs(ahead) : 0), 0)
          expect(gaps.slice(1, -1).every(gap => gap >= intervalMs / 2 - slewed)).toBe(true)
          expect(gaps.slice(1).every(gap => gap <= 1.5 * intervalMs + 2 * tickMs + slewed)).toBe(true)
        },
      ),
      { numRuns: 100 },
    )
  })

  test('a machine that slept goes on in turn: nobody runs at once, and what it slept through is counted', () => {
    const clock = new HandClock()
    const schedule = new Schedule<One>(clock)
    for (let n = 0; n < 600; n++) schedule.join(one(`mon_${n}`, 60_000))
    clock.set(8 * 3_600_000)
    clock.block(100)
    expect(begin(clock, schedule)).toBeLessThan(10)
    expect(schedule.skipped).toBeGreaterThan(590)
    let most = 0
    let all = 0
    for (let passed = 0; passed < 60_000; passed += 100) {
      clock.block(100)
      const begun = begin(clock, schedule)
      most = Math.max(most, begun)
      all += begun
    }
    expect(most).toBeLessThan(10)
    expect(Math.abs(all - 600)).toBeLessThan(10)
  })

  test('of a long interval one that was missed comes within a minute', () => {
    const clock = new HandClock()
    const schedule = new Schedule<One>(clock)
    const daily = one('mon_1', 86_400_000)
    schedule.join(daily)
    for (let passed = 0; passed <= 60_000; passed += 100) {
      clock.block(100)
      begin(clock, schedule)
    }
    expect(daily.ran.length).toBe(1)
    clock.set(3 * 86_400_000)
    for (let passed = 0; passed <= 60_000; passed += 100) {
      clock.block(100)
      begin(clock, schedule)
    }
    expect(daily.ran.length).toBe(2)
  })

  test('many that begin at once are spread over the next ticks', () => {
    const clock = new HandClock()
    const schedule = new Schedule<One>(clock)
    for (let n = 0; n < 1000; n++) schedule.joinAtOnce(one(`mon_${n}`, 30_000))
    const begun: number[] = []
    for (let tick = 0; tick < 25; tick++) {
      clock.block(100)
      begun.push(begin(clock, schedule))
    }
    expect(Math.max(...begun)).toBeLessThanOrEqual(60)
    expect(begun.slice(0, 20).every(count => count >= 50)).toBe(true)
  })
})

test('phases lie evenly over an interval, for ids of any kind', () => {
  for (const name of [(n: number) => `mon_${n}`, (n: number) => `mon_01jd${n.toString(32).padStart(20, '0')}`]) {
    const counts = Array.from({ length: 30 }, () => 0)
    for (let n = 0; n < 9000; n++) counts[Math.floor(phaseOf(name(n), 30_000) / 1000)]!++
    expect(Math.min(...counts)).toBeGreaterThan(230)
    expect(Math.max(...counts)).toBeLessThan(370)
  }
})
