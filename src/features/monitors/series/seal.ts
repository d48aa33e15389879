import { dayOfHour, hourMs, hourOf, hoursADay } from '../../../core/db/series/hours'
import { type Beat, type CheckSeries, checkSeries, checksOf } from './check-series'
import {
  mergedRows,
  packChunk,
  readChunk,
  type ChunkKey,
  type ChunkWriter,
  type PackedChunk,
} from '../../../core/db/series/chunk'
import { BadPacking } from '../../../core/db/series/packer'
import { Rollup } from '../../../core/db/series/rollup'
import type { StoredChunk, StoredRollup } from '../../../core/db/series/series'
import type { Hub } from '../../../core/hub'
import { yieldToEventLoop } from '../../../core/time-slices'
import { beatsIn } from './open-hours'
import { recorderOf, type Recorder } from './recorder'

/** A check that starts in one hour may end in the next. None takes longer than a minute. */
const graceMs = 90_000
// Small batches, so that other work waits only a few milliseconds.
const hoursAtOnce = 25
const monitorsAtOnce = 50
/** The name of the stored fact with the last day up to which all days are rolled up. */
const rolledDay = 'checks_rolled_day'

/**
 * Stores completed hours as chunks with their rollups, and rolls up completed days. Idempotent, also if another hub has done part of it.
 */
export async function sealHours(hub: Hub): Promise<void> {
  const recorder = recorderOf(hub)
  const over = recorder.openHours.before(hourOf(hub.clock.now() - graceMs))
  for (const [hour, writers] of Map.groupBy(over, one => one.key.hour)) {
    for (let from = 0; from < writers.length; from += hoursAtOnce) {
      const some = writers.slice(from, from + hoursAtOnce)
      await sealSome(hub, recorder, hour, some)
      // Late results of a day that was already rolled up, possibly by another hub in the meantime.
      const lastRolled = await hub.series.fact(rolledDay)
      if (lastRolled !== null && dayOfHour(hour) <= lastRolled)
        await rollUp(hub, dayOfHour(hour), [...new Set(some.map(one => one.key.series))])
      await yieldToEventLoop()
    }
  }
  await rollDays(hub, recorder)
}

async function sealSome(hub: Hub, recorder: Recorder, hour: number, writers: readonly ChunkWriter<CheckSeries>[]): Promise<void> {
  const counts = writers.map(one => one.rows)
  const monitors = [...new Set(writers.map(one => one.key.series))]
  const stored = await checksOf(hub).chunksOfHour(monitors, hour)
  const others = await writtenByOthers(hub, recorder, hour, monitors)
  const changed = writers.flatMap(writer => {
    const isOf = (one: { series: number; part: number }) => one.series === writer.key.series && one.part === writer.key.part
    return sealed(hub, writer, stored.find(isOf), others.filter(isOf)) ?? []
  })
  if (changed.length > 0) await checksOf(hub).putHours(changed)
  // Results that arrived during the write are sealed in the next round.
  for (const [place, writer] of writers.entries()) if (writer.rows === counts[place]) recorder.openHours.remove(writer)
}

/** A hub that stops or stalls may write its last results after another hub has adopted its monitors and read back their hour. */
async function writtenByOthers(hub: Hub, recorder: Recorder, hour: number, monitors: readonly number[]): Promise<Beat[]> {
  const adopted = recorder.adoptedSince(hour * hourMs - graceMs, monitors)
  const beats: Beat[] = []
  if (!hub.series.isShared || adopted.size === 0) return beats
  for await (const some of checksOf(hub).rowsOf(hour, adopted)) beats.push(...some)
  return beats
}

/** Null if the stored chunk is already complete. */
function sealed(
  hub: Hub,
  writer: ChunkWriter<CheckSeries>,
  before: StoredChunk | undefined,
  others: readonly Beat[],
): (ChunkKey & PackedChunk & { roll: Rollup<CheckSeries> }) | null {
  const stored = before ? readStored(hub, before) : []
  const beats = mergedRows(checkSeries, stored, beatsIn(writer), others)
  if (before && beats.length === stored.length) return null
  const roll = new Rollup(checkSeries)
  for (const beat of beats) roll.add(beat)
  const isComplete = writer.isOrdered && stored.length === 0 && others.length === 0
  return { ...writer.key, ...(isComplete ? writer.packed() : packChunk(checkSeries, writer.key, beats)), roll }
}

/** The beats of a stored chunk. Logs a warning and returns none if the chunk is corrupt. */
export function readStored(hub: Hub, { body, details, ...key }: StoredChunk): Beat[] {
  try {
    return readChunk(checkSeries, key, body, details)
  } catch (error) {
    if (!(error instanceof BadPacking)) throw error
    hub.log.warn({ ...key, reason: error.message }, 'could not read a chunk of check results')
    return []
  }
}

/** Rolls up each completed day once all its hours are sealed. */
async function rollDays(hub: Hub, recorder: Recorder): Promise<void> {
  const day = dayOfHour(hourOf(hub.clock.now() - 2 * graceMs))
  const oldest = recorder.openHours.oldest()
  const endDay = Math.min(day, oldest === null ? day : dayOfHour(oldest))
  const last = await hub.series.fact(rolledDay)
  if (last !== null && last >= endDay - 1) return
  const days = (await checksOf(hub).chunkDays()).filter(one => one < endDay && (last === null || one > last))
  for (const one of days) {
    for (let after = -1; ;) {
      const monitors = await checksOf(hub).seriesOfDay(one, after, monitorsAtOnce)
      if (monitors.length === 0) break
      await rollUp(hub, one, monitors)
      await yieldToEventLoop()
      after = monitors.at(-1)!
    }
  }
  await hub.series.putFact(rolledDay, endDay - 1)
}

async function rollUp(hub: Hub, day: number, monitors: readonly number[]): Promise<void> {
  const hours = await checksOf(hub).rollups('hour', monitors, day * hoursADay, (day + 1) * hoursADay)
  const days = new Map<string, StoredRollup<CheckSeries>>()
  for (const { series, part, roll } of hours) {
    const key = `${series} ${part}`
    const sum = days.get(key) ?? { series, part, at: day, roll: new Rollup(checkSeries) }
    sum.roll.merge(roll)
    days.set(key, sum)
  }
  await checksOf(hub).putDays([...days.values()])
}
