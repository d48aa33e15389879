import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { sha256Hex } from '../../../core/crypto'
import { hourMs } from '../../../core/db/series/chunk'
import { dayOfHour, hourOf, hoursADay } from '../../../core/db/series/store'
import type { Hub } from '../../../core/hub'
import { cursorKey, cursorValues } from '../../../core/list'
import { sealCursor } from '../../../core/page'
import { badParameter } from '../../../core/query'
import type { Page } from '../../../core/shapes'
import { othersTurn } from '../../../core/turns'
import { locationName, locationNumber } from '../locations'
import { monitorOf } from '../monitors'
import { beatsOfHours } from './hour-beats'
import { recorderOf } from './recorder'
import type { ResultsQuery, ResultView } from './shapes'
import type { Taken } from './taken'

/**
 * Results of a monitor's checks, newest first.
 * @throws Problem 404, 400 for a location that there is not, a `from` behind `to`, and a cursor of another list
 */
export async function listResults(ctx: Ctx, id: string, query: ResultsQuery): Promise<Page<ResultView>> {
  const { hub } = ctx
  const monitor = await monitorOf(hub.read, ctx, id)
  const asked = sha256Hex(JSON.stringify([id, query.from, query.to, query.location, query.status])).slice(0, 16)
  const after = query.cursor === undefined ? null : (cursorValues(ctx, query.cursor, asked, 2) as [at: number, location: number])
  const location = numberOf(query.location)
  const from = query.from === undefined ? 0 : Date.parse(query.from)
  const to = query.to === undefined ? hub.clock.now() + 1 : Date.parse(query.to)
  if (from > to) throw badParameter('from', 'must not be after `to`.')

  const limit = query.limit ?? 25
  const fits = (beat: Taken) =>
    beat.at >= from &&
    beat.at < to &&
    (location === null || beat.location === location) &&
    (query.status === undefined || query.status.includes(beat.status)) &&
    (after === null || beat.at < after[0] || (beat.at === after[0] && beat.location < after[1]))
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
      next_cursor: more && last ? sealCursor(cursorKey(ctx), { values: [last.at, last.location], filterHash: asked }) : null,
    },
  }
}

/** The number of a location that is asked for; null for all. @throws Problem 400 */
export function numberOf(location: string | undefined): number | null {
  if (location === undefined) return null
  const number = locationNumber(location)
  if (number === null) throw badParameter('location', 'is no location of this installation.')
  return number
}

/**
 * The last ones that fit, newest first: hour by hour, in steps that grow while little is found.
 * @param monitor its number
 * @param from ms UTC, as `to`: hours outside of them are not read; `fits` says which beats of the others count
 */
export async function walkBack(
  hub: Hub,
  monitor: number,
  from: number,
  to: number,
  fits: (beat: Taken) => boolean,
  most: number,
): Promise<Taken[]> {
  const found: Taken[] = []
  const first = hourOf(from)
  let step = 1
  for (let until = hourOf(Math.min(to, hub.clock.now() + hourMs)) + 1; until > first && found.length < most;) {
    const begin = Math.max(first, until - step, dayOfHour(until - 1) * hoursADay)
    const beats = (await beatsOfHours(hub, monitor, begin, until)).filter(fits)
    found.push(...beats.sort((a, b) => b.at - a.at || b.location - a.location))
    await othersTurn()
    until = begin
    step = Math.min(step * 2, hoursADay)
  }
  return found.slice(0, most)
}

/** Before it there are no results of a monitor. */
async function oldestAt(hub: Hub, monitor: number): Promise<number> {
  const [day] = await hub.series.chunkDays()
  const [hour] = await hub.series.beatHours()
  const inMemory = recorderOf(hub).oldestHour(monitor)
  return Math.min(day === undefined ? hub.clock.now() : day * hoursADay * hourMs, Math.min(hour ?? inMemory, inMemory) * hourMs)
}

const resultView = (beat: Taken): ResultView => ({
  at: instant(beat.at),
  location: locationName(beat.location),
  status: beat.status,
  latency_ms: beat.ms,
  code: beat.code,
  error: beat.error,
  phases: { dns_ms: beat.dns, connect_ms: beat.connect, tls_ms: beat.tls, first_byte_ms: beat.firstByte },
})
