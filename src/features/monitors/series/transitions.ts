import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { listPage } from '../../../core/list'
import type { Listing } from '../../../core/listing'
import { timeFilters, wordsFilter } from '../../../core/list-filters'
import type { Page } from '../../../core/shapes'
import { findRow } from '../../../core/rows'
import { monitorRows } from '../view'
import { monitorStatuses } from '../shapes'
import { monitorTransitions } from '../tables'
import type { TransitionView } from './shapes'

type TransitionRow = typeof monitorTransitions.$inferSelect

export const transitionListing: Listing<TransitionRow> = {
  name: 'monitor-transitions',
  table: monitorTransitions as never,
  id: monitorTransitions.id,
  idOf: row => row.id,
  order: { column: monitorTransitions.at, read: row => row.at },
  owner: monitorTransitions.monitorId,
  defaultSort: '-at',
  filters: {
    to: wordsFilter(monitorTransitions.to, monitorStatuses, 'Only changes to these statuses.'),
    ...timeFilters('at', monitorTransitions.at),
  },
  sorts: { at: { column: monitorTransitions.at, read: row => row.at } },
}

/** Lists the status changes of a monitor, newest first. @throws Problem 404 */
export async function listTransitions(ctx: Ctx, id: string, query: Record<string, unknown>): Promise<Page<TransitionView>> {
  await findRow(ctx.hub.read, ctx, monitorRows, id)
  return await listPage(ctx, transitionListing, query, transitionView, id)
}

const transitionView = (row: TransitionRow): TransitionView => ({
  id: row.id,
  at: instant(row.at),
  from: row.from,
  to: row.to,
  reason: row.reason,
  incident_id: row.incidentId,
})
