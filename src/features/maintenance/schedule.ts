import { and, eq } from 'drizzle-orm'
import { sha256Hex } from '../../core/crypto'
import type { Ctx } from '../../core/ctx'
import type { Reader } from '../../core/db/transaction'
import { cursorKey, cursorValues } from '../../core/list'
import { accessCondition } from '../../core/resource-access'
import { sealCursor } from '../../core/page'
import { invalidParameter } from '../../core/query'
import type { Page } from '../../core/shapes'
import { flatMapInTurns } from '../../core/time-slices'
import { allWindows } from './all-windows'
import { nextOccurrences, occurrencesBetween, type Occurrence, type Timing } from './occurrences'
import { parseTiming } from './parse-timing'
import type { AgendaQuery, MaintenanceAgendaView, MaintenanceOccurrenceView, NextOccurrencesQuery } from './shapes'
import { maintenanceWindows } from './tables'
import { occurrenceView, type WindowRow } from './view'

const dayMs = 86_400_000
const maxPeriodMs = 62 * dayMs
// An upper bound for the simultaneous occurrences of one window at the start of a page.
const maxSimultaneous = 12

/**
 * Lists the occurrences of all windows in a period of up to 62 days, ordered by start.
 * @throws Problem 400
 */
export async function listScheduledMaintenance(ctx: Ctx, query: AgendaQuery): Promise<Page<MaintenanceAgendaView>> {
  const from = Date.parse(query.from)
  const until = Date.parse(query.to)
  if (until <= from) throw invalidParameter('to', 'must be after `from`.')
  if (until - from > maxPeriodMs) throw invalidParameter('to', 'must be at most 62 days after `from`.')
  const filterHash = sha256Hex(JSON.stringify(['maintenance-agenda', query.from, query.to])).slice(0, 16)
  const cursor = query.cursor === undefined ? null : (cursorValues(ctx, query.cursor, filterHash, 2) as [number, string])
  const limit = query.limit ?? 100
  const rows = await ctx.hub.read
    .select()
    .from(maintenanceWindows)
    .where(and(eq(maintenanceWindows.workspaceId, ctx.workspaceId), accessCondition(ctx, maintenanceWindows.id)))
  const found = rows
    .flatMap(row => {
      const all = occurrencesBetween(row, cursor ? Math.max(from, cursor[0]) : from, until, limit + 1 + maxSimultaneous)
      return all.map(one => ({ row, one, key: `${row.id} ${Number(one.startedManually)}` }))
    })
    .filter(({ one, key }) => !cursor || one.from > cursor[0] || (one.from === cursor[0] && key > cursor[1]))
    .sort((a, b) => a.one.from - b.one.from || (a.key < b.key ? -1 : 1))
  const page = found.slice(0, limit)
  const hasMore = found.length > limit
  const last = page.at(-1)
  return {
    data: page.map(({ row, one }) => ({ window_id: row.id, name: row.name, ...occurrenceView(one) })),
    pagination: {
      has_more: hasMore,
      next_cursor: hasMore ? sealCursor(cursorKey(ctx), { values: [last!.one.from, last!.key], filterHash }) : null,
    },
  }
}

/**
 * The occurrences of all windows of a workspace in a period, ordered by start.
 * @param of ms UTC. `tags`: only windows with one of these among their targets; all if empty
 */
export async function plannedMaintenance(
  read: Reader,
  workspaceId: string,
  of: { from: number; until: number; tags: readonly string[]; max: number },
): Promise<{ window: WindowRow; occurrence: Occurrence }[]> {
  const rows = await allWindows(read, workspaceId)
  const wanted = rows.filter(
    ({ targets }) => of.tags.length === 0 || targets.all || targets.tags.some(tag => of.tags.includes(tag)),
  )
  const found = await flatMapInTurns(wanted, window =>
    occurrencesBetween(window, of.from, of.until, of.max).map(occurrence => ({ window, occurrence })),
  )
  return found.sort((a, b) => a.occurrence.from - b.occurrence.from || (a.window.id < b.window.id ? -1 : 1)).slice(0, of.max)
}

/**
 * Returns the next occurrences of a schedule.
 * @throws Problem 400 if the schedule is invalid
 */
export function previewMaintenanceOccurrences(
  ctx: Ctx,
  query: NextOccurrencesQuery,
): { next_occurrences: MaintenanceOccurrenceView[] } {
  const parsed = parseTiming({
    ...query,
    starts_at_local: query.starts_at_local ?? null,
    rrule: query.rrule ?? null,
    cron: query.cron ?? null,
    exdates: query.exdates ?? [],
  })
  if ('problems' in parsed) {
    const [{ pointer, detail }] = parsed.problems as [(typeof parsed.problems)[number]]
    throw invalidParameter(pointer.slice(2).split('/')[0]!, detail)
  }
  const timing: Timing = { ...parsed.timing, startedAt: null, startedUntil: null, stoppedAt: null }
  return { next_occurrences: nextOccurrences(timing, ctx.hub.clock.now()).map(occurrenceView) }
}
