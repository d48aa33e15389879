import { expect, test } from 'bun:test'
import { recurrenceWords, weeklyOf, weeklyRule } from './rules'

test('a choice of weekdays is a rule, and that rule is the choice again', () => {
  const weekly = { days: ['SU', 'SA'], every: 2 }
  expect(weeklyRule(weekly)).toBe('FREQ=WEEKLY;INTERVAL=2;BYDAY=SA,SU')
  expect(weeklyOf(weeklyRule(weekly))).toEqual({ days: ['SA', 'SU'], every: 2 })
  expect(weeklyRule({ days: [], every: 1 })).toBe('FREQ=WEEKLY')
})

test('a rule that says more is not taken for a choice of weekdays', () => {
  for (const rule of ['FREQ=MONTHLY;BYDAY=1SA', 'FREQ=WEEKLY;COUNT=3', 'FREQ=WEEKLY;BYDAY=1SA', 'FREQ=DAILY'])
    expect([rule, weeklyOf(rule)]).toEqual([rule, null])
})

test('when a window comes is told in words', () => {
  expect(recurrenceWords({ kind: 'rrule', rrule: 'FREQ=WEEKLY;BYDAY=SA', cron: null })).toBe('every week on Sat')
  expect(recurrenceWords({ kind: 'rrule', rrule: 'FREQ=MONTHLY;BYDAY=1SA', cron: null })).toBe('FREQ=MONTHLY;BYDAY=1SA')
  expect(recurrenceWords({ kind: 'cron', rrule: null, cron: '0 3 * * *' })).toBe('cron 0 3 * * *')
})
