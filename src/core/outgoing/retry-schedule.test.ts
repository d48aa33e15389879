import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { nextRetry, standardSchedule } from './retry-schedule'

const nowMs = Date.UTC(2027, 0, 31, 12, 0, 0)
const never = () => 0
const hour = 3_600_000

test('the standard schedule is ten attempts over 75:35:05', () => {
  const waits: number[] = []
  let due: number | null = nowMs
  for (let attempt = 1; due !== null; attempt++) {
    const next: number | null = nextRetry({ attempt, nowMs: due, random: never })
    if (next !== null) waits.push((next - due) / 1_000)
    due = next
  }
  expect(waits).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400])
  expect(waits.reduce((sum, wait) => sum + wait)).toBe(75 * 3_600 + 35 * 60 + 5)
  expect(nextRetry({ attempt: 10, nowMs, random: never })).toBeNull()
  expect(nextRetry({ attempt: 11, nowMs, random: never })).toBeNull()
})

test('the jitter is up to 10%, at least a second, and at most 15 minutes', () => {
  const latest = standardSchedule.slice(1).map((delay, at) => {
    const due = nextRetry({ attempt: at + 1, nowMs, random: () => 1 - 2 ** -53 }) ?? 0
    return Math.round((due - nowMs) / 1_000 - delay)
  })
  expect(latest).toEqual([1, 30, 180, 720, 900, 900, 900, 900, 900])
})

test('no retry is early or later than its jitter, and Retry-After is a minimum up to 24 hours', () => {
  const schedules = fc.array(fc.integer({ min: 0, max: 8 * 86_400 }), { minLength: 2, maxLength: 21 })
  const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  const seconds = fc.option(fc.integer({ min: 0, max: 10 * 86_400 }))
  fc.assert(
    fc.property(schedules, fc.nat(), randoms, seconds, (schedule, pick, random, requested) => {
      const attempt = 1 + (pick % (schedule.length - 1))
      const retryAfter = requested === null ? null : String(requested)
      const wait = (nextRetry({ attempt, nowMs, random: () => random, retryAfter, schedule }) ?? NaN) - nowMs
      const floor = Math.max((schedule[attempt] ?? 0) * 1_000, Math.min((requested ?? 0) * 1_000, 24 * hour))
      expect(wait).toBeGreaterThanOrEqual(floor)
      expect(wait).toBeLessThanOrEqual(floor + Math.min(Math.max(floor / 10, 1_000), 900_000))
      expect(Number.isInteger(wait)).toBe(true)
    }),
  )
})

test('Retry-After delays a retry, and never brings it forward', () => {
  const after = (retryAfter: string, attempt: number) => (nextRetry({ attempt, nowMs, random: never, retryAfter }) ?? 0) - nowMs
  expect(after('120', 1)).toBe(120_000)
  expect(after('120', 2)).toBe(300_000)
  expect(after('Sun, 31 Jan 2027 13:00:00 GMT', 1)).toBe(hour)
  expect(after('Sun, 31 Jan 2027 11:00:00 GMT', 1)).toBe(5_000)
  expect(after('9999999', 1)).toBe(24 * hour)
  expect(after('9'.repeat(400), 1)).toBe(24 * hour)
  expect(after('soon', 1)).toBe(5_000)
  expect(nextRetry({ attempt: 10, nowMs, random: never, retryAfter: '120' })).toBeNull()
})

test.each([0, -1, 1.5, NaN])('attempt number %p is invalid', attempt => {
  expect(() => nextRetry({ attempt, nowMs, random: never })).toThrow(RangeError)
})
