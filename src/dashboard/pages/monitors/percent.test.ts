import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { percent, uptimeOf } from './percent'

const seconds = fc.integer({ min: 0, max: 86_400_000 }).map(ms => ms / 1000)

test('an uptime is shown as 100% exactly if nothing was down', () => {
  const day = fc.record({ up: seconds, degraded: seconds, down: fc.oneof(fc.constant(0), seconds) })
  fc.assert(
    fc.property(fc.array(day, { maxLength: 90 }), days => {
      const isSeen = days.some(one => one.up + one.degraded + one.down > 0)
      const shown = percent(uptimeOf(days))
      if (isSeen) expect(shown === '100%').toBe(days.every(one => one.down === 0))
      else expect(shown).toBe('–')
    }),
  )
})

test('uptimes are rounded down to two decimal places', () => {
  expect([99.99999, 99.995, 1.15, 57.29, 0, null].map(percent)).toEqual(['99.99%', '99.99%', '1.15%', '57.29%', '0.00%', '–'])
})
