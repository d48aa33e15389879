import type { Beat } from '../../../core/db/series'
import {
  hourMs,
  mergedBeats,
  packChunk,
  readChunk,
  type ChunkKey,
  type ChunkWriter,
  type PackedChunk,
} from '../../../core/db/series/chunk'
import { BadPacking } from '../../../core/db/series/packer'
import { Roll } from '../../../core/db/series/roll'
import { dayOfHour, hourOf, hoursADay, type StoredChunk, type StoredRoll } from '../../../core/db/series/store'
import type { Hub } from '../../../core/hub'
import { othersTurn } from '../../../core/turns'
import { beatsIn } from './open-hours'
import { recorderOf, type Recorder } from './recorder'

/** A check that began in an hour may end in the next: none takes longer than a minute. */
export const graceMs = 90_000
// Few enough that nothing else waits for more than some milliseconds.
const hoursAtOnce = 25
const monitorsAtOnce = 50
/** The name under which the last day is kept of which all days are rolled up. */
const rolledDay = 'rolled_day'

/**
 * Writes hours that are over down as chunks, with what came of them, and days likewise. Doing so twice, or where another hub has done
 * a part of it, comes to the same.
 */
export async function sealHours(hub: Hub): Promise<void> {
  const recorder = recorderOf(hub)
  const over = recorder.openHours.before(hourOf(hub.clock.now() - graceMs))
  for (const [hour, writers] of Map.groupBy(over, one => one.key.hour)) {
    for (let from = 0; from < writers.length; from += hoursAtOnce) {
      const some = writers.slice(from, from + hoursAtOnce)
      await sealSome(hub, recorder, hour, some)
      // Late ones of a day that was rolled up before, maybe by another hub while they were sealed.
      const lastRolled = await hub.series.fact(rolledDay)
      if (lastRolled !== null && dayOfHour(hour) <= lastRolled)
        await rollUp(hub, dayOfHour(hour), [...new Set(some.map(one => one.key.monitor))])
      await othersTurn()
    }
  }
  await rollDays(hub, recorder)
}

async function sealSome(hub: Hub, recorder: Recorder, hour: number, writers: readonly ChunkWriter[]): Promise<void> {
  const counts = writers.map(one => one.beats)
  const monitors = [...new Set(writers.map(one => one.key.monitor))]
  const stored = await hub.series.chunksOfHour(monitors, hour)
  const others = await writtenByOthers(hub, recorder, hour, monitors)
  const changed = writers.flatMap(writer => {
    const isOf = (one: { monitor: number; location: number }) =>
      one.monitor === writer.key.monitor && one.location === writer.key.location
    return sealed(hub, writer, stored.find(isOf), others.filter(isOf)) ?? []
  })
  if (changed.length > 0) await hub.series.putHours(changed)
  // What came while it was written is sealed with the next round.
  for (const [place, writer] of writers.entries()) if (writer.beats === counts[place]) recorder.openHours.remove(writer)
}

/** A hub that stops or stalls may write its last results after another has taken its monitors over and read their hour back. */
async function writtenByOthers(hub: Hub, recorder: Recorder, hour: number, monitors: readonly number[]): Promise<Beat[]> {
  const takenOver = recorder.takenOverSince(hour * hourMs - graceMs, monitors)
  const beats: Beat[] = []
  if (!hub.series.isShared || takenOver.size === 0) return beats
  for await (const some of hub.series.beatsOf(hour, takenOver)) beats.push(...some)
  return beats
}

/** Null where what is stored has all of it. */
function sealed(
  hub: Hub,
  writer: ChunkWriter,
  before: StoredChunk | undefined,
  others: readonly Beat[],
): (ChunkKey & PackedChunk & { roll: Roll }) | null {
  const kept = before ? readStored(hub, before) : []
  const beats = mergedBeats(kept, beatsIn(writer), others)
  if (before && beats.length === kept.length) return null
  const roll = new Roll()
  for (const beat of beats) roll.add(beat)
  return { ...writer.key, ...packChunk(writer.key, beats), roll }
}

/** The beats of a stored chunk; none where it cannot be read, which is told in the log. */
export function readStored(hub: Hub, { body, phases, ...key }: StoredChunk): Beat[] {
  try {
    return readChunk(key, body, phases)
  } catch (error) {
    if (!(error instanceof BadPacking)) throw error
    hub.log.warn({ ...key, reason: error.message }, 'a chunk of results cannot be read')
    return []
  }
}

/** Rolls up each day that is over, once all its hours are sealed. */
async function rollDays(hub: Hub, recorder: Recorder): Promise<void> {
  const day = dayOfHour(hourOf(hub.clock.now() - 2 * graceMs))
  const oldest = recorder.openHours.oldest()
  const whole = Math.min(day, oldest === null ? day : dayOfHour(oldest))
  const last = await hub.series.fact(rolledDay)
  if (last !== null && last >= whole - 1) return
  const days = (await hub.series.chunkDays()).filter(one => one < whole && (last === null || one > last))
  for (const one of days) {
    for (let after = -1; ;) {
      const monitors = await hub.series.monitorsOfDay(one, after, monitorsAtOnce)
      if (monitors.length === 0) break
      await rollUp(hub, one, monitors)
      await othersTurn()
      after = monitors.at(-1)!
    }
  }
  await hub.series.putFact(rolledDay, whole - 1)
}

async function rollUp(hub: Hub, day: number, monitors: readonly number[]): Promise<void> {
  const hours = await hub.series.rolls('hour', monitors, day * hoursADay, (day + 1) * hoursADay)
  const days = new Map<string, StoredRoll>()
  for (const { monitor, location, roll } of hours) {
    const key = `${monitor} ${location}`
    const sum = days.get(key) ?? { monitor, location, at: day, roll: new Roll() }
    sum.roll.merge(roll)
    days.set(key, sum)
  }
  await hub.series.putDays([...days.values()])
}
