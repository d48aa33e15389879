import { instant } from '../../../core/clock'
import type { EventKindEntry } from '../../../core/event-kinds'

// The examples of all event kinds are about this day.
const exampleDay = Date.parse('2027-01-31T09:26:53.589Z')
const dayMs = 86_400_000

/**
 * The example data of an event kind as if it had happened within the last 24 hours: a receiver may refuse dates in the past or future.
 * Whole days are added, so that times still match schedules in the example.
 */
export function exampleDataAt({ example }: EventKindEntry, now: number): unknown {
  const shift = Math.floor((now - exampleDay) / dayMs) * dayMs
  return JSON.parse(JSON.stringify(example), (_, value: unknown) => {
    if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}(T[\d:.]+Z)?$/.test(value)) return value
    return instant(Date.parse(value) + shift).slice(0, value.length === 10 ? 10 : undefined)
  })
}
