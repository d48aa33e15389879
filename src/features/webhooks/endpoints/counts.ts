import { and, eq, gte, type SQL } from 'drizzle-orm'
import type { Ctx } from '../../../core/ctx'
import { countRows } from '../../../core/db/counts'
import { minIdAt } from '../../../core/ids'
import { webhookDeliveries } from '../deliveries/tables'
import { webhookEndpoints } from './tables'
import { isFailing } from './view'

const dayMs = 86_400_000
// Retry schedules take at most eight days. Older deliveries can only fail today if they were resent.
const maxAgeMs = 30 * dayMs
// There is no index on the time of failure, so the count is capped.
const maxFailedCount = 1_000

/**
 * Counts the endpoints of a workspace, the deliveries that failed in the last day (up to 1,000), and those being retried (up to
 * 10,000).
 */
export async function webhookCounts({ hub, workspaceId }: Ctx): Promise<{
  endpoints: { total: number; disabled: number; inactive: number; failing: number }
  deliveries: { failed: number; retrying: number }
}> {
  const { read } = hub
  const now = hub.clock.now()
  const rows = await read.select().from(webhookEndpoints).where(eq(webhookEndpoints.workspaceId, workspaceId))
  const inState = (status: 'exhausted' | 'retrying') =>
    and(eq(webhookDeliveries.workspaceId, workspaceId), eq(webhookDeliveries.status, status))
  const deliveries = (where: SQL | undefined) => read.select({ id: webhookDeliveries.id }).from(webhookDeliveries).where(where)
  const failed = and(
    inState('exhausted'),
    gte(webhookDeliveries.id, minIdAt('dlv', now - maxAgeMs)),
    gte(webhookDeliveries.updatedAt, now - dayMs),
  )
  return {
    endpoints: {
      total: rows.length,
      disabled: rows.filter(row => row.status === 'disabled').length,
      inactive: rows.filter(row => row.status === 'enabled' && !row.active).length,
      failing: rows.filter(isFailing).length,
    },
    deliveries: {
      failed: await countRows(read, deliveries(failed), maxFailedCount),
      retrying: await countRows(read, deliveries(inState('retrying'))),
    },
  }
}
