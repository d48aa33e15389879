import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { listingOf, listPage } from '../../core/list'
import { timeFilters, wordsFilter } from '../../core/list-filters'
import { findRow } from '../../core/rows'
import type { Page } from '../../core/shapes'
import type { ServerTransitionView } from './shapes'
import { serverTransitions } from './tables'
import { serverRows } from './view'

export const transitionListing = listingOf('server-transitions', serverTransitions, {
  owner: serverTransitions.serverId,
  accessColumn: serverTransitions.serverId,
  isSmall: true,
  filters: {
    field: wordsFilter(serverTransitions.field, ['status', 'health', 'power'], 'Only changes of these fields.'),
    ...timeFilters('at', serverTransitions.at),
  },
  sorts: ['at'],
})

/** Lists the changes of the status, health, and power of a server, newest first. @throws Problem 404 */
export async function listTransitions(ctx: Ctx, id: string, query: Record<string, unknown>): Promise<Page<ServerTransitionView>> {
  await findRow(ctx.hub.read, ctx, serverRows, id)
  return await listPage(
    ctx,
    transitionListing,
    query,
    row => ({
      id: row.id,
      at: instant(row.at),
      field: row.field,
      from: row.before,
      to: row.after,
      source: row.source,
      reason: row.reason,
    }),
    id,
  )
}
