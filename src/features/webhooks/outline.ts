import { and, eq, gte, type SQL } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import { countRows } from '../../core/db/counts'
import { leastId } from '../../core/ids'
import { webhookDeliveries, webhookEndpoints } from './tables'

const dayMs = 86_400_000
// A schedule of retries takes eight days at most; what is older is looked at only where somebody sent it again.
const oldestMs = 30 * dayMs
// When each was given up no index tells.
const mostFailed = 1_000

/** How the endpoints of a workspace do, how much was given up within a day, up to 1,000, and how much waits for another try, up to 10,000. */
export async function webhooksOutline({ hub, workspaceId }: Ctx): Promise<{
  endpoints: { total: number; disabled: number; failing: number }
  deliveries: { failed: number; retrying: number }
}> {
  const { read } = hub
  const now = hub.clock.now()
  const rows = await read
    .select({ status: webhookEndpoints.status, failingSince: webhookEndpoints.failingSince })
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.workspaceId, workspaceId))
  const inState = (status: 'exhausted' | 'retrying') =>
    and(eq(webhookDeliveries.workspaceId, workspaceId), eq(webhookDeliveries.status, status))
  const deliveries = (where: SQL | undefined) => read.select({ id: webhookDeliveries.id }).from(webhookDeliveries).where(where)
  const failed = and(
    inState('exhausted'),
    gte(webhookDeliveries.id, leastId('dlv', now - oldestMs)),
    gte(webhookDeliveries.updatedAt, now - dayMs),
  )
  return {
    endpoints: {
      total: rows.length,
      disabled: rows.filter(row => row.status === 'disabled').length,
      failing: rows.filter(row => row.status === 'enabled' && row.failingSince !== null).length,
    },
    deliveries: {
      failed: await countRows(read, deliveries(failed), mostFailed),
      retrying: await countRows(read, deliveries(inState('retrying'))),
    },
  }
}
