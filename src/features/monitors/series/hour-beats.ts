import { dayOfHour, hourOf, hoursADay } from '../../../core/db/series/hours'
import { type Beat, checkSeries, checksOf } from './check-series'
import { mergedRows } from '../../../core/db/series/chunk'
import type { Hub } from '../../../core/hub'
import { beatRetentionHours } from './retention'
import { recorderOf } from './recorder'
import { readStored } from './seal'
import type { ResultBeat } from './result-beat'

/**
 * The results of a monitor for the hours from `from` to `until` (exclusive), which must be in one day, oldest first. Combines chunks,
 * results in memory, and results of open hours written by another hub.
 */
export async function beatsOfHours(hub: Hub, monitor: number, from: number, until: number): Promise<ResultBeat[]> {
  const recorder = recorderOf(hub)
  const chunks = await checksOf(hub).chunks(monitor, from, until)
  const stored = chunks.flatMap(chunk => readStored(hub, chunk))
  const here = await recorder.beats(monitor, from, until)
  const elsewhere: Beat[] = []
  const now = hourOf(hub.clock.now())
  if (hub.series.isShared && here.length === 0)
    for (let hour = Math.max(from, now - beatRetentionHours); hour < Math.min(until, now + 1); hour++)
      if (!chunks.some(chunk => chunk.hour === hour))
        for await (const some of checksOf(hub).rowsOf(hour, new Set([monitor]))) elsewhere.push(...some)
  return distinct([...(await recorder.withErrors([...stored, ...elsewhere])), ...here])
}

/** Splits a range of hours by day. @returns pairs of first hour and end hour (exclusive) */
export function* withinDays(from: number, until: number): Generator<[from: number, until: number]> {
  for (let at = from; at < until;) {
    const next = Math.min(until, (dayOfHour(at) + 1) * hoursADay)
    yield [at, next]
    at = next
  }
}

/** Removes duplicates, by location and time. */
function distinct(beats: readonly ResultBeat[]): ResultBeat[] {
  return [...Map.groupBy(beats, beat => beat.part).values()]
    .flatMap(own => mergedRows(checkSeries, own))
    .sort((a, b) => a.at - b.at)
}
