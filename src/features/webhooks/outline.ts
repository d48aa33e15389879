import { and, eq, gte } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import { countRows } from '../../core/db/counts'
import { leastId } from '../../core/ids'
import { webhookDeliveries, webhookEndpoints } from './tables'

const dayMs = 86_400_000
// A schedule of retries takes eight days at most; what is older is looked at only where somebody sent it again.
const oldestMs = 30 * dayMs

/** How the endpoints of a workspace do, and what was given up within a day, and waits for another try, each counted up to 10,000. */
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
  const deliveries = (status: 'exhausted' | 'retrying', since: number) =>
    read
      .select({ id: webhookDeliveries.id })
      .from(webhookDeliveries)
      .where(
        and(
          eq(webhookDeliveries.workspaceId, workspaceId),
          eq(webhookDeliveries.status, status),
          gte(webhookDeliveries.id, leastId('dlv', now - oldestMs)),
          gte(webhookDeliveries.updatedAt, since),
        ),
      )
  return {
    endpoints: {
      total: rows.length,
      disabled: rows.filter(row => row.status === 'disabled').length,
      failing: rows.filter(row => row.status === 'enabled' && row.failingSince !== null).length,
    },
    deliveries: {
      failed: await countRows(read, deliveries('exhausted', now - dayMs)),
      retrying: await countRows(read, deliveries('retrying', 0)),
    },
  }
}
