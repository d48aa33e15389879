import { sha256Hex } from '../../core/crypto'
import type { Ctx } from '../../core/ctx'
import { cursorKey, cursorValues } from '../../core/list'
import { sealCursor } from '../../core/page'
import { badParameter } from '../../core/query'
import type { Page } from '../../core/shapes'
import { occurrencesAfter, type Occurrence } from './occurrences'
import type { MaintenanceOccurrenceView } from './shapes'
import { currentOf, occurrenceView, type WindowRow } from './view'
import { windowOf } from './windows'

const dayMs = 86_400_000
const aheadMs = 35 * dayMs
const mostMs = 400 * dayMs

/**
 * The occurrences of a window in a time, oldest first: from now on, and for 35 days, where that is left out.
 * @throws Problem 400, 404
 */
export async function listOccurrences(
  ctx: Ctx,
  id: string,
  query: { from?: string; to?: string; limit?: number; cursor?: string },
): Promise<Page<MaintenanceOccurrenceView>> {
  const row = await windowOf(ctx.hub.read, ctx, id)
  const filterHash = sha256Hex(JSON.stringify(['maintenance-occurrences', id, query.from ?? null, query.to ?? null])).slice(0, 16)
  const cursor = query.cursor === undefined ? null : (cursorValues(ctx, query.cursor, filterHash, 3) as [number, number, number])
  // Pages that follow are of the same time as the first, however much later they are asked for.
  const from = cursor ? cursor[0] : query.from === undefined ? ctx.hub.clock.now() : Date.parse(query.from)
  const until = query.to === undefined ? from + aheadMs : Date.parse(query.to)
  if (until <= from) throw badParameter('to', 'must be after from.')
  if (until - from > mostMs) throw badParameter('to', 'must be at most 400 days after from.')
  const limit = query.limit ?? 25
  const current = cursor ? null : currentOf(row, from)
  const after = cursor ? cursor[1] : from
  const found = [...(current && current.from < from ? [current] : []), ...beginningFrom(row, after, limit + 2)]
    .filter(one => one.from < until && (!cursor || one.from > after || Number(one.byHand) > cursor[2]))
    .slice(0, limit + 1)
  const more = found.length > limit
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return {
    data: page.map(occurrenceView),
    pagination: {
      has_more: more,
      next_cursor: more ? sealCursor(cursorKey(ctx), { values: [from, last!.from, Number(last!.byHand)], filterHash }) : null,
    },
  }
}

/** Those that begin from then on, by schedule and by hand, in order. */
function beginningFrom(row: WindowRow, from: number, most: number): Occurrence[] {
  const planned = occurrencesAfter(row, from - 1, most)
  const { startedAt, startedUntil } = row
  if (startedAt === null || startedAt < from) return planned
  return [...planned, { from: startedAt, until: startedUntil!, byHand: true }].sort(
    (a, b) => a.from - b.from || Number(a.byHand) - Number(b.byHand),
  )
}
