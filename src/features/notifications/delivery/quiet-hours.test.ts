import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { days, heldUntil, type QuietHours } from './quiet-hours'

const night: QuietHours = { timezone: 'Europe/Berlin', days: [...days], from: '22:00', to: '07:00', except_severity: 'critical' }
const until = (quiet: QuietHours | null, at: string, severity: 'info' | 'critical' = 'info') => {
  const ms = heldUntil(quiet, severity, Date.parse(at))
  return ms === null ? null : new Date(ms).toISOString()
}

describe('quiet hours', () => {
  test('include their start and exclude their end', () => {
    expect(until(night, '2026-11-21T20:59:59.999Z')).toBeNull()
    expect(until(night, '2026-11-21T21:00:00Z')).toBe('2026-11-22T06:00:00.000Z')
    expect(until(night, '2026-11-22T05:59:59.999Z')).toBe('2026-11-22T06:00:00.000Z')
    expect(until(night, '2026-11-22T06:00:00Z')).toBeNull()
  })

  test('let messages of the excepted severity through, or none without one', () => {
    expect(until(night, '2026-11-21T23:00:00Z', 'critical')).toBeNull()
    expect(until({ ...night, except_severity: null }, '2026-11-21T23:00:00Z', 'critical')).not.toBeNull()
    expect(until(null, '2026-11-21T23:00:00Z')).toBeNull()
  })

  test('apply to the day on which they start', () => {
    // 2026-11-21 is a Saturday.
    const friday: QuietHours = { ...night, days: ['fri'] }
    expect(until(friday, '2026-11-21T05:00:00Z')).toBe('2026-11-21T06:00:00.000Z')
    expect(until(friday, '2026-11-21T22:00:00Z')).toBeNull()
    expect(until({ ...night, days: ['sat'], from: '08:00', to: '12:00' }, '2026-11-21T08:00:00Z')).toBe(
      '2026-11-21T11:00:00.000Z',
    )
  })

  test('follow local time across daylight saving changes', () => {
    // In Berlin, clocks went from 02:00 to 03:00 on 2026-03-29, and from 03:00 back to 02:00 on 2026-10-25.
    expect(until(night, '2026-03-28T22:00:00Z')).toBe('2026-03-29T05:00:00.000Z')
    expect(until(night, '2026-10-24T22:00:00Z')).toBe('2026-10-25T06:00:00.000Z')
    expect(until({ ...night, to: '02:30' }, '2026-03-28T23:00:00Z')).toBe('2026-03-29T01:30:00.000Z')
  })

  test('end after the held moment, and hold nothing at their end unless new ones start there', () => {
    const time = fc
      .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
      .map(([h, m]) => `${String(h).padStart(2, '0')}:${String(m).padStart(2, '0')}`)
    const hours = fc.record({
      timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns', 'Pacific/Apia', 'Australia/Lord_Howe'),
      days: fc.subarray([...days], { minLength: 1 }),
      from: time,
      to: time,
      except_severity: fc.constant(null),
    })
    fc.assert(
      fc.property(hours, fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 }), (quiet, at) => {
        fc.pre(quiet.from !== quiet.to)
        const end = heldUntil(quiet, 'info', at)
        if (end === null) return
        expect(end).toBeGreaterThan(at)
        expect(end - at).toBeLessThanOrEqual(25 * 3_600_000)
        expect(heldUntil(quiet, 'info', end - 1)).toBeGreaterThanOrEqual(end)
      }),
    )
  })
})
