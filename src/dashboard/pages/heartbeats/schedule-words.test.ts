import { expect, test } from 'bun:test'
import { cronWords, scheduleWords } from './schedule-words'

test('common cron expressions are put in words, and others stand as they are', () => {
  const told = {
    '* * * * *': 'every minute',
    '*/15 * * * *': 'every 15 min',
    '5 * * * *': 'at minute 5 of every hour',
    '30 3 * * *': 'at 03:30 every day',
    '0 22 * * 7': 'at 22:00 every Sunday',
    '0 6 * * 1-5': 'at 06:00 from Monday to Friday',
    '0 0 1 * *': 'at 00:00 on day 1 of every month',
    '*/7 * * * *': '*/7 * * * *',
    '0 3 1 * 1': '0 3 1 * 1',
    '0 3 * 6 *': '0 3 * 6 *',
    '0 3 * * mon#1': '0 3 * * mon#1',
  }
  for (const [expression, words] of Object.entries(told)) expect([expression, cronWords(expression)]).toEqual([expression, words])
})

test('a schedule tells its time zone unless that is UTC', () => {
  const cron = { kind: 'cron', expression: '30 3 * * *', grace_seconds: 60 } as const
  expect(scheduleWords({ ...cron, timezone: 'UTC' })).toBe('at 03:30 every day')
  expect(scheduleWords({ ...cron, timezone: 'Europe/Berlin' })).toBe('at 03:30 every day, Europe/Berlin')
  expect(scheduleWords({ ...cron, kind: 'calendar', expression: 'Mon *-*-* 01:00\nSat *-*-* 02:00', timezone: 'UTC' })).toBe(
    'Mon *-*-* 01:00 or Sat *-*-* 02:00',
  )
  expect(scheduleWords({ kind: 'period', period_seconds: 5400, grace_seconds: 60 })).toBe('every 1 h 30 min')
})
