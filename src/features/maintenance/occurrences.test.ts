import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cpuTime } from '../../../test/support/cpu-time'
import { occurrencesAfter, occurrencesBetween, type Timing } from './occurrences'
import { parseTiming, type TimingInput } from './parse-timing'

const hour = 3_600_000
const day = 24 * hour
const at = (text: string) => Date.parse(text)

function timing(input: Partial<TimingInput>, overrides: Partial<Timing> = {}): Timing {
  const defaults = {
    kind: 'rrule' as const,
    starts_at_local: null,
    timezone: 'Europe/Berlin',
    duration_seconds: 3600,
    rrule: null,
    cron: null,
    exdates: [],
  }
  const parsed = parseTiming({ ...defaults, ...input })
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems))
  return { ...parsed.timing, startedAt: null, startedUntil: null, stoppedAt: null, ...overrides }
}
const starts = (window: Timing, from: string, until: string) =>
  occurrencesBetween(window, at(from), at(until), 1000).map(one => new Date(one.from).toISOString().slice(0, 16))

describe('occurrences of a window', () => {
  test('keep the local time when the clocks change', () => {
    const daily = timing({ starts_at_local: '2026-03-01T22:00:00', rrule: 'FREQ=DAILY' })
    expect(starts(daily, '2026-03-28T00:00:00Z', '2026-03-31T00:00:00Z')).toEqual([
      '2026-03-28T21:00',
      '2026-03-29T20:00',
      '2026-03-30T20:00',
    ])
  })

  test('in a skipped hour start when the clocks have moved forward, and none is lost', () => {
    const skipped = ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30']
    const daily = timing({ starts_at_local: '2026-03-01T02:30', rrule: 'FREQ=DAILY' })
    expect(starts(daily, '2026-03-28T00:00:00Z', '2026-03-31T00:00:00Z')).toEqual(skipped)
    const cron = timing({ kind: 'cron', cron: '30 2 * * *' })
    expect(starts(cron, '2026-03-28T00:00:00Z', '2026-03-31T00:00:00Z')).toEqual(skipped)
    const once = timing({ kind: 'once', starts_at_local: '2026-03-29T02:30' })
    expect(starts(once, '2026-03-28T00:00:00Z', '2026-03-31T00:00:00Z')).toEqual(['2026-03-29T01:00'])
  })

  test('in a repeated hour start once, in the first pass', () => {
    const twice = ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30']
    const daily = timing({ starts_at_local: '2026-10-01T02:30', rrule: 'FREQ=DAILY' })
    expect(starts(daily, '2026-10-24T00:00:00Z', '2026-10-27T00:00:00Z')).toEqual(twice)
    const cron = timing({ kind: 'cron', cron: '30 2 * * *' })
    expect(starts(cron, '2026-10-24T00:00:00Z', '2026-10-27T00:00:00Z')).toEqual(twice)
  })

  test.each([
    ['FREQ=WEEKLY;BYDAY=SA,SU', '2026-11-07T10:00', ['2026-11-07', '2026-11-08', '2026-11-14']],
    ['FREQ=WEEKLY;INTERVAL=2;BYDAY=SA', '2026-11-07T10:00', ['2026-11-07', '2026-11-21', '2026-12-05']],
    ['FREQ=MONTHLY;BYDAY=2TU', '2026-11-07T10:00', ['2026-11-10', '2026-12-08', '2027-01-12']],
    ['FREQ=MONTHLY;BYMONTHDAY=-1', '2026-11-07T10:00', ['2026-11-30', '2026-12-31', '2027-01-31']],
    ['FREQ=MONTHLY;BYMONTHDAY=31', '2026-11-07T10:00', ['2026-12-31', '2027-01-31', '2027-03-31']],
    ['FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1', '2026-11-07T10:00', ['2026-11-30', '2026-12-31', '2027-01-29']],
    ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29', '2026-11-07T10:00', ['2028-02-29', '2032-02-29', '2036-02-29']],
    ['FREQ=DAILY;COUNT=2', '2026-11-07T10:00', ['2026-11-07', '2026-11-08']],
    ['FREQ=DAILY;COUNT=1000;BYMONTHDAY=-19', '2000-01-01T10:00', ['2026-11-12', '2026-12-13', '2027-01-13']],
    ['FREQ=DAILY;UNTIL=20261108', '2026-11-07T10:00', ['2026-11-07', '2026-11-08']],
    ['FREQ=DAILY;UNTIL=20261108T095959', '2026-11-07T10:00', ['2026-11-07']],
    ['FREQ=DAILY;UNTIL=20261108T090000Z', '2026-11-07T10:00', ['2026-11-07', '2026-11-08']],
    ['rrule:freq=daily;interval=3', '2026-11-07T10:00', ['2026-11-07', '2026-11-10', '2026-11-13']],
  ])('follow %s', (rrule, starts_at_local, expected) => {
    const found = occurrencesAfter(timing({ starts_at_local, rrule }), at('2026-11-01T00:00:00Z'), 3)
    expect(found.map(one => new Date(one.from).toISOString().slice(0, 10))).toEqual(expected)
  })

  test('skip exceptions by date and by time', () => {
    const daily = timing({
      starts_at_local: '2026-12-23T22:00',
      rrule: 'FREQ=DAILY',
      exdates: ['2026-12-24', '2026-12-26T22:00', '2026-12-27T21:00'],
    })
    expect(starts(daily, '2026-12-23T00:00:00Z', '2026-12-28T00:00:00Z')).toEqual([
      '2026-12-23T21:00',
      '2026-12-25T21:00',
      '2026-12-27T21:00',
    ])
    const cron = timing({ kind: 'cron', cron: '0 22 * * *', starts_at_local: '2026-12-24T00:00', exdates: ['2026-12-25'] })
    expect(starts(cron, '2026-12-20T00:00:00Z', '2026-12-27T00:00:00Z')).toEqual(['2026-12-24T21:00', '2026-12-26T21:00'])
  })

  test('include those that started earlier and are still active, and manual ones', () => {
    const nightly = timing({ starts_at_local: '2026-11-01T22:00', rrule: 'FREQ=DAILY', duration_seconds: 4 * 3600 })
    const noon = at('2026-11-10T12:00:00Z')
    expect(occurrencesBetween(nightly, at('2026-11-10T23:00:00Z'), at('2026-11-11T00:00:00Z'), 10)).toEqual([
      { from: at('2026-11-10T21:00:00Z'), until: at('2026-11-11T01:00:00Z'), startedManually: false },
    ])
    const started = { ...nightly, startedAt: noon, startedUntil: noon + hour }
    expect(occurrencesBetween(started, noon, noon + 1, 10)).toEqual([{ from: noon, until: noon + hour, startedManually: true }])
    const stopped = { ...nightly, stoppedAt: at('2026-11-10T22:00:00Z') }
    expect(
      occurrencesBetween(stopped, at('2026-11-10T20:00:00Z'), at('2026-11-12T00:00:00Z'), 10).map(one => one.until - one.from),
    ).toEqual([hour, 4 * hour])
  })

  test('are the same by period and by count, for any rule', () => {
    const rule = fc
      .tuple(
        fc.constantFrom('DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'),
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom('', ';BYDAY=MO', ';BYMONTHDAY=1,15', ';BYMONTH=3,10', ';COUNT=30'),
      )
      .map(
        ([freq, interval, rest]) =>
          `FREQ=${freq};INTERVAL=${interval}${freq === 'WEEKLY' && rest.includes('MONTHDAY') ? '' : rest}`,
      )
    fc.assert(
      fc.property(
        rule,
        fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC'),
        fc.integer({ min: 0, max: 700 }),
        fc.integer({ min: 0, max: 23 }),
        (rrule, timezone, days, hours) => {
          const window = timing({ rrule, timezone, starts_at_local: `2025-01-01T${String(hours).padStart(2, '0')}:30` })
          const from = at('2025-01-01T00:00:00Z') + days * day
          const after = occurrencesAfter(window, from, 5).filter(one => one.from < from + 35 * day)
          const between = occurrencesBetween(window, from + 1, from + 35 * day, 1000).filter(one => one.from > from)
          expect(between.slice(0, 5)).toEqual(after)
        },
      ),
      { numRuns: 200 },
    )
  })
})

test('any rule is either rejected or expanded quickly', () => {
  const several = (one: fc.Arbitrary<string | number>) => fc.array(one, { minLength: 1, maxLength: 3 }).map(all => all.join(','))
  const part = fc.oneof(
    fc.constantFrom('INTERVAL=1000', 'COUNT=1000', 'COUNT=3', 'UNTIL=20301231T235959Z', 'WKST=SU'),
    several(fc.constantFrom('MO', '1TU', '-1SU', '5MO', '53FR', '0SA')).map(days => `BYDAY=${days}`),
    several(fc.integer({ min: 0, max: 13 })).map(months => `BYMONTH=${months}`),
    several(fc.integer({ min: -32, max: 32 })).map(days => `BYMONTHDAY=${days}`),
    several(fc.constantFrom(-366, -1, 0, 1, 59, 366)).map(days => `BYYEARDAY=${days}`),
    several(fc.integer({ min: -54, max: 54 })).map(weeks => `BYWEEKNO=${weeks}`),
    several(fc.constantFrom(-1, 1, 2, 366, 99_999)).map(places => `BYSETPOS=${places}`),
  )
  const start = fc.constantFrom('2000-01-01T02:30', '2026-03-29T02:30', '2199-12-31T23:59')
  const startedAt = cpuTime()
  fc.assert(
    fc.property(
      fc.constantFrom('DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'),
      fc.array(part, { maxLength: 4 }),
      start,
      (freq, parts, at) => {
        const rrule = [`FREQ=${freq}`, ...parts].join(';')
        const input = {
          kind: 'rrule' as const,
          starts_at_local: at,
          timezone: 'Europe/Berlin',
          duration_seconds: 60,
          cron: null,
          exdates: [],
        }
        const parsed = parseTiming({ ...input, rrule })
        if ('problems' in parsed) return
        const window = { ...parsed.timing, startedAt: null, startedUntil: null, stoppedAt: null }
        for (const from of [Date.UTC(2026, 10, 21), Date.UTC(2199, 0, 1)])
          for (const one of [...occurrencesAfter(window, from, 5), ...occurrencesBetween(window, from, from + 35 * day, 100)])
            expect(one.until - one.from).toBe(60_000)
      },
    ),
    { numRuns: 300 },
  )
  expect(cpuTime() - startedAt).toBeLessThan(60_000)
})

describe('an invalid window', () => {
  test.each([
    [{ kind: 'once' }, 'starts_at_local'],
    [{ kind: 'once', starts_at_local: '2026-02-30T10:00' }, 'starts_at_local'],
    [{ kind: 'once', starts_at_local: '2026-02-20T10:00Z' }, 'starts_at_local'],
    [{ kind: 'once', starts_at_local: '1999-02-20T10:00' }, 'starts_at_local'],
    [{ kind: 'once', starts_at_local: '2026-02-20T10:00', rrule: 'FREQ=DAILY' }, 'rrule'],
    [{ kind: 'once', starts_at_local: '2026-02-20T10:00', exdates: ['2026-02-20'] }, 'exdates'],
    [{ kind: 'once', starts_at_local: '2026-02-20T10:00', timezone: 'Mars/Base' }, 'timezone'],
    [{ kind: 'once', starts_at_local: '2026-02-20T10:00', timezone: '+02:00' }, 'timezone'],
    [{ rrule: null, starts_at_local: '2026-02-20T10:00' }, 'rrule'],
    [{ rrule: 'FREQ=HOURLY', starts_at_local: '2026-02-20T10:00' }, 'rrule'],
    [{ rrule: 'FREQ=DAILY;BYHOUR=3', starts_at_local: '2026-02-20T10:00' }, 'rrule'],
    [{ rrule: 'FREQ=DAILY;COUNT=5000', starts_at_local: '2026-02-20T10:00' }, 'rrule'],
    [{ rrule: 'FREQ=DAILY;INTERVAL=0', starts_at_local: '2026-02-20T10:00' }, 'rrule'],
    [{ rrule: 'FREQ=DAILY;FREQ=DAILY', starts_at_local: '2026-02-20T10:00' }, 'rrule'],
    [{ rrule: 'FREQ=DAILY;COUNT=2;UNTIL=20270101', starts_at_local: '2026-02-20T10:00' }, 'rrule'],
    [{ rrule: 'FREQ=DAILY;UNTIL=20251301', starts_at_local: '2026-02-20T10:00' }, 'rrule'],
    [{ rrule: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', starts_at_local: '2026-02-20T10:00' }, 'rrule'],
    [{ rrule: 'every day', starts_at_local: '2026-02-20T10:00' }, 'rrule'],
    [{ kind: 'cron', cron: '0 22 * *' }, 'cron'],
    [{ kind: 'cron', cron: '0 22 31 2 *' }, 'cron'],
    [{ kind: 'cron', cron: '0 22 * * *', exdates: ['soon'] }, 'exdates/0'],
    [{ kind: 'cron', cron: '* * * * *', duration_seconds: 3600 }, 'duration_seconds'],
  ] as [Partial<TimingInput>, string][])('%j is rejected at %s', (input, field) => {
    const defaults = {
      kind: 'rrule' as const,
      starts_at_local: null,
      timezone: 'UTC',
      duration_seconds: 60,
      rrule: null,
      cron: null,
      exdates: [],
    }
    const parsed = parseTiming({ ...defaults, ...input })
    expect('problems' in parsed && parsed.problems.map(one => one.pointer)).toEqual([`#/${field}`])
  })
})
