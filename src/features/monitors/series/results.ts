import { dayOfHour, hourMs, hourOf, hoursADay } from '../../../core/db/series/hours'
import { checksOf } from './check-series'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { sha256Hex } from '../../../core/crypto'
import type { Hub } from '../../../core/hub'
import { cursorKey, cursorValues } from '../../../core/list'
import { sealCursor } from '../../../core/page'
import { invalidParameter } from '../../../core/query'
import type { Page } from '../../../core/shapes'
import { yieldToEventLoop } from '../../../core/time-slices'
import { locationName, locationNumber } from '../live/locations'
import { findRow } from '../../../core/rows'
import { monitorRows } from '../view'
import { beatsOfHours } from './hour-beats'
import { recorderOf } from './recorder'
import type { ResultsQuery, ResultView } from './shapes'
import type { ResultBeat } from './result-beat'

/**
 * The check results of a monitor, newest first.
 * @throws Problem 404, 400 for an unknown location, a `from` after `to`, or a cursor of another list
 */
export async function listResults(ctx: Ctx, id: string, query: ResultsQuery): Promise<Page<ResultView>> {
  const { hub } = ctx
  const monitor = await findRow(hub.read, ctx, monitorRows, id)
  const filterHash = sha256Hex(JSON.stringify([id, query.from, query.to, query.location, query.status])).slice(0, 16)
  const after =
    query.cursor === undefined ? null : (cursorValues(ctx, query.cursor, filterHash, 2) as [at: number, location: number])
  const location = numberOf(query.location)
  const from = query.from === undefined ? 0 : Date.parse(query.from)
  const to = query.to === undefined ? hub.clock.now() + 1 : Date.parse(query.to)
  if (from > to) throw invalidParameter('from', 'must not be after `to`.')

  const limit = query.limit ?? 25
  const fits = (beat: ResultBeat) =>
    beat.at >= from &&
    beat.at < to &&
    (location === null || beat.part === location) &&
    (query.status === undefined || query.status.includes(beat.status)) &&
    (after === null || beat.at < after[0] || (beat.at === after[0] && beat.part < after[1]))
  const found = await walkBack(
    hub,
    monitor.number,
    Math.max(from, await oldestAt(hub, monitor.number)),
    Math.min(to, (after?.[0] ?? to) + 1),
    fits,
    limit + 1,
  )
  const page = found.slice(0, limit)
  const last = page.at(-1)
  const more = found.length > limit
  return {
    data: page.map(resultView),
    pagination: {
      has_more: more,
      next_cursor: more && last ? sealCursor(cursorKey(ctx), { values: [last.at, last.part], filterHash }) : null,
    },
  }
}

/** The number of the requested location; null for all. @throws Problem 400 */
export function numberOf(location: string | undefined): number | null {
  if (location === undefined) return null
  const number = locationNumber(location)
  if (number === null) throw invalidParameter('location', 'is not a location of this installation.')
  return number
}

/**
 * The last matching results, newest first. Reads backwards in steps that grow from an hour to a day.
 * @param monitor number of the monitor
 * @param from ms UTC, like `to`: limits which hours are read; `fits` decides about each result
 */
export async function walkBack(
  hub: Hub,
  monitor: number,
  from: number,
  to: number,
  fits: (beat: ResultBeat) => boolean,
  max: number,
): Promise<ResultBeat[]> {
  const found: ResultBeat[] = []
  const first = hourOf(from)
  let step = 1
  for (let until = hourOf(Math.min(to, hub.clock.now() + hourMs)) + 1; until > first && found.length < max;) {
    const begin = Math.max(first, until - step, dayOfHour(until - 1) * hoursADay)
    const beats = (await beatsOfHours(hub, monitor, begin, until)).filter(fits)
    found.push(...beats.sort((a, b) => b.at - a.at || b.part - a.part))
    await yieldToEventLoop()
    until = begin
    step = Math.min(step * 2, hoursADay)
  }
  return found.slice(0, max)
}

/** The start of the results of a monitor. */
async function oldestAt(hub: Hub, monitor: number): Promise<number> {
  const [day] = await checksOf(hub).chunkDays()
  const [hour] = await checksOf(hub).hours()
  const inMemory = recorderOf(hub).oldestHour(monitor)
  return Math.min(day === undefined ? hub.clock.now() : day * hoursADay * hourMs, Math.min(hour ?? inMemory, inMemory) * hourMs)
}

const resultView = (beat: ResultBeat): ResultView => ({
  at: instant(beat.at),
  location: locationName(beat.part),
  status: beat.status,
  latency_ms: beat.ms,
  code: beat.code,
  error: beat.error,
  phases: { dns_ms: beat.dns, connect_ms: beat.connect, tls_ms: beat.tls, first_byte_ms: beat.firstByte },
})
