import { afterAll, beforeEach, expect, test } from 'bun:test'
import { setTimePreferences } from '../../parts/timezone'
import { cronText, scheduleText } from './schedule-text'

beforeEach(() => setTimePreferences({ timezone: 'UTC', hour_cycle: '24' }))
afterAll(() => setTimePreferences({ timezone: null, hour_cycle: 'auto' }))

test('common cron expressions are described in words, and others are returned unchanged', () => {
  const expected = {
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
  for (const [expression, words] of Object.entries(expected))
    expect([expression, cronText(expression)]).toEqual([expression, words])
})

test('times are in the clock format of the user', () => {
  setTimePreferences({ timezone: 'UTC', hour_cycle: '12' })
  expect(cronText('30 3 * * *').replace('\u202f', ' ')).toBe('at 3:30 AM every day')
})

test('the time zone is included if the schedule depends on it', () => {
  const cron = { kind: 'cron', expression: '30 3 * * *', grace_seconds: 60 } as const
  expect(scheduleText({ ...cron, timezone: 'UTC' })).toBe('at 03:30 every day, UTC')
  expect(scheduleText({ ...cron, expression: '*/5 * * * *', timezone: 'UTC' })).toBe('every 5 min')
  expect(scheduleText({ ...cron, timezone: 'Europe/Berlin' })).toBe('at 03:30 every day, Europe/Berlin')
  expect(scheduleText({ ...cron, kind: 'calendar', expression: 'Mon *-*-* 01:00\nSat *-*-* 02:00', timezone: 'UTC' })).toBe(
    'Mon *-*-* 01:00 or Sat *-*-* 02:00, UTC',
  )
  expect(scheduleText({ kind: 'period', period_seconds: 5400, grace_seconds: 60 })).toBe('every 1 h 30 min')
})
