import { expect, test } from 'bun:test'
import { inTimezone } from './local-times'

test.each([
  ['Europe/Berlin', 'Started 2026-11-21 23:30:05 UTC.', 'Started 2026-11-22 00:30:05 UTC+1.'],
  ['Europe/Berlin', 'on 2026-07-01 04:43 UTC', 'on 2026-07-01 06:43 UTC+2'],
  ['America/New_York', '2026-11-21 03:00 UTC to 2026-11-21 06:00 UTC', '2026-11-20 22:00 UTC-5 to 2026-11-21 01:00 UTC-5'],
  ['Asia/Kathmandu', '(2026-11-21 10:00:00 UTC)', '(2026-11-21 15:45:00 UTC+5:45)'],
  ['UTC', '2026-11-21 10:00:00 UTC', '2026-11-21 10:00:00 UTC'],
  [
    'Europe/Berlin',
    'until 2026-13-41 10:00 UTC, 10:00 UTC, 2026-11-21 10:00 UTC+1',
    'until 2026-13-41 10:00 UTC, 10:00 UTC, 2026-11-21 10:00 UTC+1',
  ],
])('in %s, %p is %p', (timezone, text, local) => {
  expect(inTimezone(text, timezone)).toBe(local)
})
