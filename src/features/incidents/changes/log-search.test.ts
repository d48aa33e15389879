import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { firstEntrySince } from './log-search'

test('firstEntrySince finds the first entry since a time, including before the start and after the end of the log', async () => {
  const times = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 40 }).map(list => list.sort((a, b) => a - b))
  await fc.assert(
    fc.asyncProperty(times, fc.integer({ min: -1, max: 51 }), fc.integer({ min: 1, max: 9 }), async (list, time, lowest) => {
      const found = await firstEntrySince(time, lowest, lowest + list.length - 1, async n => list[n - lowest] ?? null)
      const expected = list.findIndex(one => one >= time)
      expect(found).toBe(lowest + (expected === -1 ? list.length : expected))
    }),
  )
})
