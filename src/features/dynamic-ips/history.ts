import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { listPage } from '../../core/list'
import { flagFilter, timeFilters } from '../../core/list-filters'
import type { Listing } from '../../core/listing'
import { findRow } from '../../core/rows'
import type { Page } from '../../core/shapes'
import type { DynamicIpUpdateView } from './shapes'
import { clientView, dynamicIpRows } from './view'
import { dynamicIpUpdates } from './tables'

export const updateListing: Listing<typeof dynamicIpUpdates.$inferSelect> = {
  name: 'dynamic-ip-updates',
  table: dynamicIpUpdates as never,
  id: dynamicIpUpdates.id,
  idOf: row => row.id,
  owner: dynamicIpUpdates.sourceId,
  defaultSort: '-id',
  filters: {
    changed: flagFilter(dynamicIpUpdates.changed, 'True for reports that changed an address, false for the others.'),
    ...timeFilters('at', dynamicIpUpdates.at),
  },
  sorts: {},
}

/** Lists the reports of a source, newest first. @throws Problem 404 */
export async function listUpdates(ctx: Ctx, id: string, query: Record<string, unknown>): Promise<Page<DynamicIpUpdateView>> {
  await findRow(ctx.hub.read, ctx, dynamicIpRows, id)
  return await listPage(
    ctx,
    updateListing,
    query,
    ({ id: entry, at, changed, ipv4, ipv6, prefix6, details }): DynamicIpUpdateView => {
      const { hosts, given, answers, explanation, ...client } = details
      return {
        id: entry,
        at: instant(at),
        ...clientView(client),
        hosts,
        parameters: given,
        response_lines: answers,
        explanation,
        changed,
        ipv4,
        ipv6,
        prefix6,
      }
    },
    id,
  )
}
