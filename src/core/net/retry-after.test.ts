import { expect, test } from 'bun:test'
import { retryAfterMs } from './retry-after'

const nowMs = Date.UTC(2027, 0, 31, 12, 0, 0)
const hour = 3_600_000

test.each([
  ['Sun, 31 Jan 2027 12:00:10 GMT', 10_000],
  ['Sunday, 31-Jan-27 12:00:10 GMT', 10_000],
  ['Sun Jan 31 12:00:10 2027', 10_000],
  ['Mon Feb  1 12:00:00 2027', 24 * hour],
  ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
  ['0', 0],
  [' 30 ', 30_000],
])('Retry-After %j is a wait of %d ms', (header, ms) => {
  expect(retryAfterMs(header, nowMs)).toBe(ms)
})

test.each([
  '',
  '-5',
  '1.5',
  '5 minutes',
  '0x10',
  '2027-01-31T13:00:00Z',
  'Sun, 31 Foo 2027 13:00:00 GMT',
  'Sun, 31 Jan 2027 25:00:00 GMT',
  'Sun, 31 Jan 2027 13:00:00 CET',
  'Sun, 00 Jan 2027 13:00:00 GMT',
])('Retry-After %j is ignored', header => {
  expect(retryAfterMs(header, nowMs)).toBeNull()
})
