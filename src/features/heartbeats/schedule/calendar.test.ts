import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { nextCalendar, parseCalendar, ScheduleError } from './calendar'
import { canonicalTimezone, instantOf, wallReading } from '../../../core/wall-clock'

const at = (text: string): number => Date.parse(text.length === 16 ? `${text}:00Z` : `${text}Z`)

function nextTimes(expression: string, after: string, count: number, timezone = 'UTC'): string[] {
  const calendar = parseCalendar(expression, timezone)
  const found: string[] = []
  for (let next = nextCalendar(calendar, at(after)); next !== null && found.length < count; next = nextCalendar(calendar, next)) {
    found.push(new Date(next).toISOString().replace(/(:00)?\.000Z$|Z$/, ''))
  }
  return found
}

// All expected values are from `systemd-analyze calendar --iterations` of systemd 252.
const TABLE: [expression: string, after: string, ...expected: string[]][] = [
  ['minutely', '2024-01-01T00:00', '2024-01-01T00:01', '2024-01-01T00:02'],
  ['hourly', '2024-01-01T00:00', '2024-01-01T01:00'],
  ['daily', '2024-01-01T00:00', '2024-01-02T00:00'],
  ['DAILY', '2024-01-01T00:00', '2024-01-02T00:00'],
  ['weekly', '2024-01-01T00:00', '2024-01-08T00:00'],
  ['weekly Europe/Paris', '2026-11-21T10:00', '2026-11-22T23:00'],
  ['monthly', '2024-01-01T00:00', '2024-02-01T00:00'],
  ['quarterly', '2024-01-01T00:00', '2024-04-01T00:00', '2024-07-01T00:00', '2024-10-01T00:00', '2025-01-01T00:00'],
  ['semiannually', '2024-01-01T00:00', '2024-07-01T00:00', '2025-01-01T00:00'],
  ['yearly', '2024-01-01T00:00', '2025-01-01T00:00'],
  ['annually utc', '2024-01-01T00:00', '2025-01-01T00:00'],
  ['*-02~01', '2024-02-27T00:00', '2024-02-29T00:00', '2025-02-28T00:00', '2026-02-28T00:00', '2027-02-28T00:00'],
  ['*-02~01', '2027-03-01T00:00', '2028-02-29T00:00'],
  ['*-*~1..3', '2024-02-27T00:00', '2024-02-28T00:00', '2024-02-29T00:00', '2024-03-29T00:00', '2024-03-30T00:00'],
  ['*-*~1..6/2', '2024-01-01T00:00', '2024-01-27T00:00', '2024-01-29T00:00', '2024-01-31T00:00', '2024-02-25T00:00'],
  ['*-*~7/2', '2024-01-01T00:00', '2024-01-25T00:00', '2024-01-27T00:00', '2024-01-29T00:00', '2024-01-31T00:00'],
  ['Mon *-05~07/1', '2024-01-01T00:00', '2024-05-27T00:00', '2025-05-26T00:00', '2026-05-25T00:00'],
  ['Mon..Fri 9..17/2:00', '2024-02-27T00:00', '2024-02-27T09:00', '2024-02-27T11:00', '2024-02-27T13:00'],
  ['Wed, 17:48', '2024-01-01T00:00', '2024-01-03T17:48', '2024-01-10T17:48'],
  ['Wed *-1', '2026-11-21T00:00', '2027-09-01T00:00'],
  ['Sat,Thu,Mon..Wed,Sat..Sun', '2024-01-04T00:00', '2024-01-06T00:00', '2024-01-07T00:00', '2024-01-08T00:00'],
  ['mon,fri *-1/2-1,3 *:30:45', '2024-01-01T00:00', '2024-01-01T00:30:45', '2024-01-01T01:30:45'],
  ['12,14,13,12:20,10,30', '2024-01-01T00:00', '2024-01-01T12:10', '2024-01-01T12:20', '2024-01-01T12:30', '2024-01-01T13:10'],
  ['*:2/3', '2024-01-01T00:00', '2024-01-01T00:02', '2024-01-01T00:05'],
  ['1..5/10:00', '2024-01-01T00:00', '2024-01-01T01:00', '2024-01-02T01:00'],
  ['2024-02..04-05', '2024-01-01T00:00', '2024-02-05T00:00', '2024-03-05T00:00', '2024-04-05T00:00'],
  ['69-1-1', '2024-01-01T00:00', '2069-01-01T00:00'],
  ['*-02-29', '2096-03-01T00:00', '2104-02-29T00:00'],
  ['2199-12-31', '2024-01-01T00:00', '2199-12-31T00:00'],
  ['*-*-* 23:59:59', '2199-12-31T00:00', '2199-12-31T23:59:59'],
  ['@1800000000', '2024-01-01T00:00', '2027-01-15T08:00'],
  ['*-02-30', '2024-01-01T00:00'],
  ['Mon @1800000000', '2024-01-01T00:00'],
  ['2003-03-05 05:40', '2024-01-01T00:00'],
  // Clocks go forward: times in the skipped hour do not occur.
  ['02:30 Europe/Paris', '2024-03-30T00:00', '2024-03-30T01:30', '2024-04-01T00:30'],
  ['02..03:15 Europe/Paris', '2024-03-31T00:00', '2024-03-31T01:15', '2024-04-01T00:15'],
  ['*:0/30 America/New_York', '2024-03-10T05:30', '2024-03-10T06:00', '2024-03-10T06:30', '2024-03-10T07:00', '2024-03-10T07:30'],
  ['02:15 Australia/Lord_Howe', '2024-10-05T14:00', '2024-10-06T15:15'],
  ['daily Africa/Cairo', '2024-04-24T10:00', '2024-04-24T22:00', '2024-04-26T21:00'],
  ['Fri *:0/30 Africa/Cairo', '2024-04-24T10:00', '2024-04-25T22:00', '2024-04-25T22:30'],
  // Clocks go back: times in the repeated hour occur once, in the first pass.
  ['02:30 Europe/Paris', '2024-10-26T00:00', '2024-10-26T00:30', '2024-10-27T00:30', '2024-10-28T01:30'],
  ['*:0/30 Europe/Paris', '2024-10-26T23:00', '2024-10-26T23:30', '2024-10-27T00:00', '2024-10-27T00:30', '2024-10-27T02:00'],
  ['*:0/15 Europe/Paris', '2024-10-27T01:10', '2024-10-27T01:15', '2024-10-27T01:30', '2024-10-27T01:45', '2024-10-27T02:00'],
]

describe('next times of calendar events', () => {
  test.each(TABLE)('%s after %s', (expression, after, ...expected) => {
    expect(nextTimes(expression, after, expected.length || 1)).toEqual(expected)
  })

  test('use the time zone of the heartbeat if the expression has none', () => {
    expect(nextTimes('09:00', '2024-07-01T00:00', 1, 'America/New_York')).toEqual(['2024-07-01T13:00'])
  })

  test('fractions of a second are rounded up to the millisecond', () => {
    expect(nextTimes('*:*:1.5..3.7/0.3', '2024-01-01T00:00', 3)).toEqual([
      '2024-01-01T00:00:01.500',
      '2024-01-01T00:00:01.800',
      '2024-01-01T00:00:02.100',
    ])
    expect(nextTimes('05:40:23.4200004/3.1700005', '2024-01-01T00:00', 2)).toEqual([
      '2024-01-01T05:40:23.420',
      '2024-01-01T05:40:26.591',
    ])
    expect(nextTimes('00:00:59.999999', '2024-01-01T00:00', 1)).toEqual(['2024-01-01T00:01'])
  })

  // Contrary to its manual, systemd 252 skips midnight after the end of a month.
  test('open repetitions continue across the end of a month', () => {
    expect(nextTimes('0/11:00', '2024-03-31T12:00', 3)).toEqual(['2024-03-31T22:00', '2024-04-01T00:00', '2024-04-01T11:00'])
  })

  test('there are none, and the search ends, if every date falls in a gap', () => {
    expect(nextTimes('Sun *-03~07/1 02:30 Europe/Paris', '2024-01-01T00:00', 1)).toEqual([])
  })
})

describe('invalid calendar events', () => {
  test.each([
    ['', 'empty'],
    ['5', '"5"'],
    ['*/2:00', 'Use 0/n'],
    ['*:50/20', 'second value'],
    ['3..1:00', 'reversed'],
    ['*:*:0..30/0', 'greater than 0'],
    ['24:00', 'hour must be between 0 and 23'],
    ['*:60', 'minute must be between 0 and 59'],
    ['*:*:59.9999999', 'second must be between 0 and 59'],
    ['*-13-1', 'month must be between 1 and 12'],
    ['*-*-32', 'day must be between 1 and 31'],
    ['*-*~31', 'between 1 and 28'],
    ['2200-1-1', 'year must be between 1970 and 2199'],
    ['1969-1-1', 'year must be between 1970 and 2199'],
    ['1.5:00', 'Only seconds can have decimals'],
    ['1,,2:00', '""'],
    ['1-2-3-4', '"1-2-3-4"'],
    ['1~2-3', '"1~2-3"'],
    ['2024-01-01T10:00', '"2024'],
    ['10:', '""'],
    ['1:2:3:4', 'HH:MM'],
    ['10:00 10-15', '"10-15"'],
    ['Tues 10:00', '"Tues"'],
    ['Sun..Mon', 'reversed'],
    ['Mon..Wed..Fri', '"Mon..Wed..Fri"'],
    ['10:00 Nowhere/Zone', '"Nowhere/Zone" is not a valid time zone'],
    ['every day', '"every" is not a weekday'],
    ['@12x', '"@12x"'],
    ['tomorrow', '"tomorrow"'],
  ])('%p is rejected with %p in the message', (expression, part) => {
    expect(() => parseCalendar(expression, 'UTC')).toThrow(ScheduleError)
    expect(() => parseCalendar(expression, 'UTC')).toThrow(part)
  })

  test('an unknown default time zone is rejected', () => {
    expect(() => parseCalendar('daily', '+01:00')).toThrow('"+01:00" is not a valid time zone')
  })
})

const zone = fc.constantFrom(
  'UTC',
  'Europe/Paris',
  'America/New_York',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Asia/Kathmandu',
  'Pacific/Apia',
)
const instant = fc.integer({ min: Date.UTC(1975), max: Date.UTC(2150) })
const expression = fc.constantFrom(
  '*:0/7',
  'hourly',
  '02:30',
  'Mon..Fri 1..3:15',
  '*-*~1 02:00',
  '*:*:0.25/0.5',
  'Fri *-*-13',
  '*-02-29',
  '00:00',
  '*-03,10~1..7 0..3:*',
)

test('the next time is after the given time, and no match lies in between', () => {
  fc.assert(
    fc.property(expression, zone, instant, (text, name, after) => {
      const calendar = parseCalendar(text, name)
      const next = nextCalendar(calendar, after)!
      expect(next).toBeGreaterThan(after)
      expect(wallReading(name, next)).toBeGreaterThan(wallReading(name, after) - 3_600_000)
      // A search from any time before it finds the same match, unless the clocks change in between.
      const between = after + Math.floor((next - after) / 2)
      const again = nextCalendar(calendar, between)!
      if (wallReading(name, between) - between === wallReading(name, after) - after) expect(again).toBe(next)
    }),
  )
})

test('a local time is converted back to its instant', () => {
  fc.assert(
    fc.property(zone, instant, (name, moment) => {
      const reading = wallReading(name, moment)
      const found = instantOf(name, reading, moment - 1)
      expect(found).toEqual({ at: moment })
    }),
  )
})

test('a local time in a gap resumes at the end of the gap', () => {
  expect(instantOf('Europe/Paris', at('2024-03-31T02:30'), 0)).toEqual({ resumesAt: at('2024-03-31T03:00') })
  expect(instantOf('Pacific/Apia', at('2011-12-30T12:00'), 0)).toEqual({ resumesAt: at('2011-12-31T00:00') })
})

test('time zones are found by name in any case, but not by offset', () => {
  expect(canonicalTimezone('europe/paris')).toBe('Europe/Paris')
  expect(canonicalTimezone('UTC')).toBe('UTC')
  for (const name of ['', '+01:00', 'Z', 'Mars/Olympus', '../etc', 'Europe/Paris ']) expect(canonicalTimezone(name)).toBeNull()
})
