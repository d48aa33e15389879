import { eq } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import { inactiveReason } from './delivery/routing'
import { notificationChannels } from './tables'

/** Counts the channels of a workspace. */
export async function channelCounts({ hub, workspaceId }: Ctx): Promise<{ total: number; disabled: number; failing: number }> {
  const rows = await hub.read
    .select({
      status: notificationChannels.status,
      active: notificationChannels.active,
      failures: notificationChannels.consecutiveFailures,
    })
    .from(notificationChannels)
    .where(eq(notificationChannels.workspaceId, workspaceId))
  return {
    total: rows.length,
    disabled: rows.filter(row => row.status === 'disabled').length,
    failing: rows.filter(row => inactiveReason(row) === null && row.failures > 0).length,
  }
}
