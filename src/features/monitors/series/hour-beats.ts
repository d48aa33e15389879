import { mergedBeats } from '../../../core/db/series/chunk'
import type { Beat } from '../../../core/db/series'
import { dayOfHour, hourOf, hoursADay } from '../../../core/db/series/store'
import type { Hub } from '../../../core/hub'
import { beatHoursKept } from './retention'
import { recorderOf } from './recorder'
import { readStored } from './seal'
import type { Taken } from './taken'

/**
 * The results of a monitor of hours from `from` up to but not including `until`, which lie in one day, oldest first: of chunks, of what
 * is in memory here, and of what another hub has written of hours that are still open.
 */
export async function beatsOfHours(hub: Hub, monitor: number, from: number, until: number): Promise<Taken[]> {
  const recorder = recorderOf(hub)
  const chunks = await hub.series.chunks(monitor, from, until)
  const stored = chunks.flatMap(chunk => readStored(hub, chunk))
  const here = await recorder.beats(monitor, from, until)
  const elsewhere: Beat[] = []
  const now = hourOf(hub.clock.now())
  if (hub.series.isShared && here.length === 0)
    for (let hour = Math.max(from, now - beatHoursKept); hour < Math.min(until, now + 1); hour++)
      if (!chunks.some(chunk => chunk.hour === hour))
        for await (const some of hub.series.beatsOf(hour, new Set([monitor]))) elsewhere.push(...some)
  return distinct([...(await recorder.named([...stored, ...elsewhere])), ...here])
}

/** The stretches of hours that each lie in one day. @returns pairs of first hour and the one behind the last */
export function* withinDays(from: number, until: number): Generator<[from: number, until: number]> {
  for (let at = from; at < until;) {
    const next = Math.min(until, (dayOfHour(at) + 1) * hoursADay)
    yield [at, next]
    at = next
  }
}

/** Each once, by location and time. */
function distinct(beats: readonly Taken[]): Taken[] {
  return [...Map.groupBy(beats, beat => beat.location).values()].flatMap(own => mergedBeats(own)).sort((a, b) => a.at - b.at)
}
