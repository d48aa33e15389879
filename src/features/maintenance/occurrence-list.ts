import { sha256Hex } from '../../core/crypto'
import type { Ctx } from '../../core/ctx'
import { cursorKey, cursorValues } from '../../core/list'
import { sealCursor } from '../../core/page'
import { invalidParameter } from '../../core/query'
import type { Page } from '../../core/shapes'
import { occurrencesAfter, type Occurrence } from './occurrences'
import type { MaintenanceOccurrenceView } from './shapes'
import { currentOccurrence, occurrenceView, type WindowRow } from './view'
import { findRow } from '../../core/rows'
import { windowRows } from './windows'

const dayMs = 86_400_000
const aheadMs = 35 * dayMs
const maxPeriodMs = 400 * dayMs

/**
 * Lists the occurrences of a window in a period, in order of their start. The period defaults to the next 35 days.
 * @throws Problem 400, 404
 */
export async function listOccurrences(
  ctx: Ctx,
  id: string,
  query: { from?: string; to?: string; limit?: number; cursor?: string },
): Promise<Page<MaintenanceOccurrenceView>> {
  const row = await findRow(ctx.hub.read, ctx, windowRows, id)
  const filterHash = sha256Hex(JSON.stringify(['maintenance-occurrences', id, query.from ?? null, query.to ?? null])).slice(0, 16)
  const cursor = query.cursor === undefined ? null : (cursorValues(ctx, query.cursor, filterHash, 3) as [number, number, number])
  // All pages cover the same period, no matter when they are requested.
  const from = cursor ? cursor[0] : query.from === undefined ? ctx.hub.clock.now() : Date.parse(query.from)
  const until = query.to === undefined ? from + aheadMs : Date.parse(query.to)
  if (until <= from) throw invalidParameter('to', 'must be after `from`.')
  if (until - from > maxPeriodMs) throw invalidParameter('to', 'must be at most 400 days after `from`.')
  const limit = query.limit ?? 25
  const current = cursor ? null : currentOccurrence(row, from)
  const after = cursor ? cursor[1] : from
  const found = [...(current && current.from < from ? [current] : []), ...startingFrom(row, after, limit + 2)]
    .filter(one => one.from < until && (!cursor || one.from > after || Number(one.startedManually) > cursor[2]))
    .slice(0, limit + 1)
  const hasMore = found.length > limit
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return {
    data: page.map(occurrenceView),
    pagination: {
      has_more: hasMore,
      next_cursor: hasMore
        ? sealCursor(cursorKey(ctx), { values: [from, last!.from, Number(last!.startedManually)], filterHash })
        : null,
    },
  }
}

/** Returns the scheduled and manual occurrences that start from then on, in order. */
function startingFrom(row: WindowRow, from: number, max: number): Occurrence[] {
  const scheduled = occurrencesAfter(row, from - 1, max)
  const { startedAt, startedUntil } = row
  if (startedAt === null || startedAt < from) return scheduled
  return [...scheduled, { from: startedAt, until: startedUntil!, startedManually: true }].sort(
    (a, b) => a.from - b.from || Number(a.startedManually) - Number(b.startedManually),
  )
}
