import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { checkSchedule, describeSchedule, downAfter, expectedAfter, MAX_SECONDS, type Schedule } from './schedule'

const period = (period_seconds: number, grace_seconds = 60): Schedule => ({ kind: 'period', period_seconds, grace_seconds })
const cron = (expression: string, timezone = 'UTC'): Schedule => ({ kind: 'cron', expression, timezone, grace_seconds: 60 })
const calendar = (expression: string, timezone = 'UTC'): Schedule =>
  ({ ...cron(expression, timezone), kind: 'calendar' }) as Schedule
const at = (text: string): number => Date.parse(`${text}Z`)

describe('checking a schedule', () => {
  const problems = (schedule: Schedule, now?: number): string[] => checkSchedule(schedule, now).map(p => `${p.pointer} ${p.code}`)

  test('valid schedules pass', () => {
    const valid = [
      period(5, 1),
      period(MAX_SECONDS, MAX_SECONDS),
      cron('*/5 * * * *'),
      cron(' 0  4 * * mon-fri '),
      cron('0 0 L * *', 'Europe/Paris'),
      calendar('daily'),
      calendar('Mon..Fri 09:00\n\nSat 10:00 Europe/Paris\n', 'Asia/Tokyo'),
    ]
    for (const schedule of valid) expect(checkSchedule(schedule)).toEqual([])
  })

  test('durations out of range or with fractions are rejected', () => {
    for (const seconds of [4, 0, -60, 5.5, NaN, Infinity, MAX_SECONDS + 1]) {
      expect(problems(period(seconds))).toEqual(['/period_seconds out_of_range'])
    }
    for (const seconds of [0, 1.5, MAX_SECONDS + 1]) {
      expect(problems({ ...cron('0 4 * * *'), grace_seconds: seconds })).toEqual(['/grace_seconds out_of_range'])
    }
    expect(checkSchedule(period(4))[0]!.detail).toBe(
      'The period must be a whole number of seconds between 5 and 31536000 (365 days).',
    )
  })

  test('cron expressions must have five fields on one line', () => {
    for (const text of ['', '* * * *', '0 * * * * *', '@daily', '0 4 * *\n*', '0 4 * * *\n0 5 * * *']) {
      expect(problems(cron(text))).toEqual(['/expression invalid_expression'])
      expect(checkSchedule(cron(text))[0]!.detail).toContain('five fields on one line')
    }
  })

  test('cron fields out of range are rejected, and the message names the field', () => {
    const [problem] = checkSchedule(cron('60 * * * *'))
    expect(problem!.detail).toBe('The cron expression "60 * * * *" is invalid: Invalid value for minute: 60.')
    for (const text of ['5-1 * * * *', '*/0 * * * *', '0 0 H * *', '0 24 * * *', '0 0 32 1 *']) {
      expect(problems(cron(text))).toEqual(['/expression invalid_expression'])
    }
  })

  test('invalid calendar lines are rejected', () => {
    const schedule = calendar('daily\n25:00')
    expect(checkSchedule(schedule)).toEqual([
      { pointer: '/expression', code: 'invalid_expression', detail: '"25" is out of range: the hour must be between 0 and 23.' },
    ])
    expect(problems(calendar(' \n '))).toEqual(['/expression invalid_expression'])
  })

  test('unknown time zones are reported together with problems of the expression', () => {
    expect(problems(cron('0 4 * * *', 'Mars/Olympus'))).toEqual(['/timezone unknown_timezone'])
    expect(problems(calendar('25:00', 'Mars/Olympus'))).toEqual(['/timezone unknown_timezone', '/expression invalid_expression'])
  })

  test('expressions that are too long are rejected', () => {
    const line = `${'0,'.repeat(47)}0 1:00`
    expect(problems(calendar(line.padStart(101, '0')))).toEqual(['/expression too_long'])
    expect(problems(cron(`${'0,'.repeat(50)}0 * * * *`))).toEqual(['/expression too_long'])
    expect(problems(calendar(Array(200).fill('daily').join('\n')))).toEqual(['/expression too_long'])
    expect(problems(calendar(Array(150).fill('daily').join('\n')))).toEqual([])
  })

  test('expressions without a match are rejected', () => {
    expect(problems(cron('0 0 30 2 *'))).toEqual(['/expression never_fires'])
    expect(problems(calendar('*-02-30\n*-04-31'))).toEqual(['/expression never_fires'])
    expect(problems(calendar('2020-01-01'))).toEqual([])
    expect(problems(calendar('2020-01-01'), at('2024-01-01T00:00'))).toEqual(['/expression never_fires'])
  })
})

describe('expected time of the next ping', () => {
  test('is a period after the last ping', () => {
    expect(expectedAfter(period(300), 1_000)).toBe(301_000)
  })

  test('is the next time of the cron expression, strictly after the last ping', () => {
    expect(expectedAfter(cron('0 4 * * *'), at('2024-01-01T04:00:00'))).toBe(at('2024-01-02T04:00:00'))
    expect(expectedAfter(cron('0 4 * * *'), at('2024-01-01T03:59:59.999'))).toBe(at('2024-01-01T04:00:00'))
    expect(expectedAfter(cron('30 2 * * *', 'Europe/Paris'), at('2024-07-01T00:00:00'))).toBe(at('2024-07-01T00:30:00'))
    // Like Vixie cron, matches either the day of the month or the weekday if both are given.
    expect(expectedAfter(cron('0 0 13 * fri'), at('2024-09-01T00:00:00'))).toBe(at('2024-09-06T00:00:00'))
  })

  test('is the earliest of all calendar lines', () => {
    const schedule = calendar('Mon 09:00\nSat 10:00\n2025-01-01')
    expect(expectedAfter(schedule, at('2024-01-04T00:00:00'))).toBe(at('2024-01-06T10:00:00'))
    expect(expectedAfter(schedule, at('2024-01-06T10:00:00'))).toBe(at('2024-01-08T09:00:00'))
  })

  test('is null if the calendar has ended', () => {
    expect(expectedAfter(calendar('2024-01-01'), at('2024-01-01T00:00:00'))).toBeNull()
  })

  test('does not depend on the cache of other schedules', () => {
    const last = at('2024-01-01T00:00:00')
    const first = expectedAfter(cron('0 4 * * *', 'Europe/Paris'), last)
    for (let n = 0; n < 2100; n++) expectedAfter(calendar(`${n % 24}:${n % 60}:${n % 59}`), last)
    expect(expectedAfter(cron('0 4 * * *', 'Europe/Paris'), last)).toBe(first)
  })

  test('is after the last ping for any cron expression', () => {
    const anyCron = fc.constantFrom('*/5 * * * *', '30 2 * * *', '0 0 29 2 *', '15 1-3 * * sun', '0 0 L * *', '0 */6 1 * mon')
    const zone = fc.constantFrom('UTC', 'Europe/Paris', 'America/New_York', 'Australia/Lord_Howe')
    const instant = fc.integer({ min: Date.UTC(2000), max: Date.UTC(2100) })
    fc.assert(
      fc.property(anyCron, zone, instant, (expression, timezone, last) => {
        expect(expectedAfter(cron(expression, timezone), last)!).toBeGreaterThan(last)
      }),
    )
  })
})

describe('when a heartbeat goes down', () => {
  test('is a grace period after the expected time', () => {
    expect(downAfter(period(300, 60), { lastPingAt: 0, startedAt: null })).toEqual({ expectedAt: 300_000, downAt: 360_000 })
  })

  test('is a grace period after the start of a run, if that is earlier', () => {
    expect(downAfter(period(300, 60), { lastPingAt: 0, startedAt: 100_000 })).toEqual({ expectedAt: 300_000, downAt: 160_000 })
    expect(downAfter(period(300, 60), { lastPingAt: 0, startedAt: 310_000 })).toEqual({ expectedAt: 300_000, downAt: 360_000 })
    expect(downAfter(period(300, 60), { lastPingAt: null, startedAt: 100_000 })).toEqual({ expectedAt: null, downAt: 160_000 })
  })

  test('is null if nothing is expected', () => {
    expect(downAfter(period(300), { lastPingAt: null, startedAt: null })).toEqual({ expectedAt: null, downAt: null })
    const ended = downAfter(calendar('2024-01-01'), { lastPingAt: at('2024-06-01T00:00'), startedAt: null })
    expect(ended).toEqual({ expectedAt: null, downAt: null })
  })
})

test('schedules are described in English', () => {
  expect(describeSchedule(period(300, 60))).toBe('every 5 min, grace period 1 min')
  expect(describeSchedule(period(90_061, 1))).toBe('every 1 d 1 h 1 min 1 s, grace period 1 s')
  expect(describeSchedule(cron('0 4 * * *', 'Europe/Paris'))).toBe('cron "0 4 * * *" in Europe/Paris, grace period 1 min')
  expect(describeSchedule(calendar('daily\nMon 09:00'))).toBe('calendar "daily" or "Mon 09:00" in UTC, grace period 1 min')
})
