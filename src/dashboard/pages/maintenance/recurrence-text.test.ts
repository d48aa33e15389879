import { expect, test } from 'bun:test'
import { recurrenceText, weeklyOf, weeklyRule } from './recurrence-text'

test('a selection of weekdays is converted to a rule and back', () => {
  const weekly = { days: ['SU', 'SA'], every: 2 }
  expect(weeklyRule(weekly)).toBe('FREQ=WEEKLY;INTERVAL=2;BYDAY=SA,SU')
  expect(weeklyOf(weeklyRule(weekly))).toEqual({ days: ['SA', 'SU'], every: 2 })
  expect(weeklyRule({ days: [], every: 1 })).toBe('FREQ=WEEKLY')
})

test('other rules are not treated as a selection of weekdays', () => {
  for (const rule of ['FREQ=MONTHLY;BYDAY=1SA', 'FREQ=WEEKLY;COUNT=3', 'FREQ=WEEKLY;BYDAY=1SA', 'FREQ=DAILY'])
    expect([rule, weeklyOf(rule)]).toEqual([rule, null])
})

test('the recurrence of a window is described in words', () => {
  expect(recurrenceText({ kind: 'rrule', rrule: 'FREQ=WEEKLY;BYDAY=SA', cron: null })).toBe('every week on Sat')
  expect(recurrenceText({ kind: 'rrule', rrule: 'FREQ=MONTHLY;BYDAY=1SA', cron: null })).toBe('FREQ=MONTHLY;BYDAY=1SA')
  expect(recurrenceText({ kind: 'cron', rrule: null, cron: '0 3 * * *' })).toBe('cron 0 3 * * *')
})
