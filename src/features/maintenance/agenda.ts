import { and, eq } from 'drizzle-orm'
import { sha256Hex } from '../../core/crypto'
import type { Ctx } from '../../core/ctx'
import { cursorKey, cursorValues } from '../../core/list'
import { reachable } from '../../core/narrowing'
import { sealCursor } from '../../core/page'
import { badParameter } from '../../core/query'
import type { Page } from '../../core/shapes'
import { nextOccurrences, occurrencesBetween, type Timing } from './occurrences'
import { timingOf } from './rules'
import type { AgendaQuery, MaintenanceAgendaView, MaintenanceOccurrenceView, NextOccurrencesQuery } from './shapes'
import { maintenanceWindows } from './tables'
import { occurrenceView } from './view'

const dayMs = 86_400_000
const mostMs = 62 * dayMs
// Of one window; as many as may be in force at once where a page begins.
const mostAtOnce = 12

/**
 * What of all windows is in force at some time in a span of at most 62 days, in the order of their beginnings.
 * @throws Problem 400
 */
export async function listAgenda(ctx: Ctx, query: AgendaQuery): Promise<Page<MaintenanceAgendaView>> {
  const from = Date.parse(query.from)
  const until = Date.parse(query.to)
  if (until <= from) throw badParameter('to', 'must be after from.')
  if (until - from > mostMs) throw badParameter('to', 'must be at most 62 days after from.')
  const filterHash = sha256Hex(JSON.stringify(['maintenance-agenda', query.from, query.to])).slice(0, 16)
  const cursor = query.cursor === undefined ? null : (cursorValues(ctx, query.cursor, filterHash, 2) as [number, string])
  const limit = query.limit ?? 100
  const rows = await ctx.hub.read
    .select()
    .from(maintenanceWindows)
    .where(and(eq(maintenanceWindows.workspaceId, ctx.workspaceId), reachable(ctx, maintenanceWindows.id)))
  const found = rows
    .flatMap(row => {
      const all = occurrencesBetween(row, cursor ? Math.max(from, cursor[0]) : from, until, limit + 1 + mostAtOnce)
      return all.map(one => ({ row, one, key: `${row.id} ${Number(one.byHand)}` }))
    })
    .filter(({ one, key }) => !cursor || one.from > cursor[0] || (one.from === cursor[0] && key > cursor[1]))
    .sort((a, b) => a.one.from - b.one.from || (a.key < b.key ? -1 : 1))
  const page = found.slice(0, limit)
  const more = found.length > limit
  const last = page.at(-1)
  return {
    data: page.map(({ row, one }) => ({ window_id: row.id, name: row.name, ...occurrenceView(one) })),
    pagination: {
      has_more: more,
      next_cursor: more ? sealCursor(cursorKey(ctx), { values: [last!.one.from, last!.key], filterHash }) : null,
    },
  }
}

/**
 * When a window with this timing would be in force next, before there is one.
 * @throws Problem 400 for a timing that no window may have
 */
export function readNextOccurrences(ctx: Ctx, asked: NextOccurrencesQuery): { next_occurrences: MaintenanceOccurrenceView[] } {
  const found = timingOf({
    ...asked,
    starts_at_local: asked.starts_at_local ?? null,
    rrule: asked.rrule ?? null,
    cron: asked.cron ?? null,
    exdates: asked.exdates ?? [],
  })
  if ('problems' in found) {
    const [{ pointer, detail }] = found.problems as [(typeof found.problems)[number]]
    throw badParameter(pointer.slice(2).split('/')[0]!, detail)
  }
  const timing: Timing = { ...found.timing, startedAt: null, startedUntil: null, stoppedAt: null }
  return { next_occurrences: nextOccurrences(timing, ctx.hub.clock.now()).map(occurrenceView) }
}
