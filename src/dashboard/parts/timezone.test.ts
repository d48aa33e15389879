import { afterEach, describe, expect, test } from 'bun:test'
import {
  usesTwelveHourClock,
  toLocalInput,
  parseLocalInput,
  browserTimezone,
  displayTimezone,
  setTimePreferences,
  timeFormat,
  withLocalTimes,
} from './timezone'

afterEach(() => setTimePreferences({ timezone: null, hour_cycle: 'auto' }))

const inZone = (timezone: string) => setTimePreferences({ timezone, hour_cycle: 'auto' })

describe('display time zone', () => {
  test('is the preferred one, or the browser’s if it is unknown or not set', () => {
    expect(displayTimezone()).toBe(browserTimezone())
    inZone('Asia/Kathmandu')
    expect(displayTimezone()).toBe('Asia/Kathmandu')
    inZone('Mars/Olympus')
    expect(displayTimezone()).toBe(browserTimezone())
  })

  test('applies to formats that were cached before', () => {
    const at = Date.UTC(2026, 10, 22, 23, 30)
    const shown = () => timeFormat({ year: 'numeric', month: '2-digit', day: '2-digit' }).formatToParts(at)
    const dayShown = () => shown().find(part => part.type === 'day')!.value
    inZone('UTC')
    expect(dayShown()).toBe('22')
    inZone('Pacific/Auckland')
    expect(dayShown()).toBe('23')
  })

  test.each([
    ['12', '11', true],
    ['24', '23', false],
  ] as const)('uses a %s-hour clock', (hour_cycle, hour, isTwelve) => {
    setTimePreferences({ timezone: 'UTC', hour_cycle })
    const parts = timeFormat({ hour: '2-digit', minute: '2-digit' }).formatToParts(Date.UTC(2026, 10, 22, 23, 5))
    expect(parts.find(part => part.type === 'hour')!.value).toBe(hour)
    expect(usesTwelveHourClock()).toBe(isTwelve)
  })
})

test('UTC times in a text are converted', () => {
  inZone('Asia/Tokyo')
  expect(withLocalTimes('It expires on 2026-11-22 20:30 UTC.')).toMatch(/^It expires on .*23.* 0?5:30/)
  expect(withLocalTimes('until 2026-13-41 20:30 UTC, 20:30 UTC')).toBe('until 2026-13-41 20:30 UTC, 20:30 UTC')
})

describe('local times', () => {
  test.each([
    ['UTC', '2026-11-22T08:30', '2026-11-22T08:30:00.000Z'],
    ['Europe/Berlin', '2026-11-22T08:30', '2026-11-22T07:30:00.000Z'],
    ['Europe/Berlin', '2026-07-01T00:00', '2026-06-30T22:00:00.000Z'],
    ['Asia/Kathmandu', '2026-11-22T00:00', '2026-11-21T18:15:00.000Z'],
    ['Pacific/Kiritimati', '2026-01-01T00:00', '2025-12-31T10:00:00.000Z'],
    ['America/New_York', '2026-03-08T01:59', '2026-03-08T06:59:00.000Z'],
    ['America/New_York', '2026-03-08T03:00', '2026-03-08T07:00:00.000Z'],
    ['America/New_York', '2026-11-01T03:00', '2026-11-01T08:00:00.000Z'],
  ])('in %s, %s is %s', (zone, local, iso) => {
    inZone(zone)
    const at = parseLocalInput(local)!
    expect(new Date(at).toISOString()).toBe(iso)
    expect(toLocalInput(at)).toBe(`${local}:00`)
  })

  test('a skipped time maps to after the gap, and an ambiguous one to the first occurrence', () => {
    inZone('America/New_York')
    expect(toLocalInput(parseLocalInput('2026-03-08T02:30')!)).toBe('2026-03-08T03:30:00')
    expect(parseLocalInput('2026-11-01T01:30')).toBe(Date.UTC(2026, 10, 1, 5, 30))
    // Here, midnight is skipped.
    inZone('America/Santiago')
    expect(toLocalInput(parseLocalInput('2026-09-06T00:00')!)).toBe('2026-09-06T01:00:00')
  })

  test.each(['', '2026-11', 'soon', '2026-11-22', '2026-13-40T00:00'])('is not a valid time: %p', text => {
    expect(parseLocalInput(text)).toBeNull()
  })
})
