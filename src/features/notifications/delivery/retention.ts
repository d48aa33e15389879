import { and, eq, lt } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'
import { pruneRows } from '../../../core/rows'
import { notifications, notificationThreads } from '../tables'

/** Retention of finished notifications. */
const retentionMs = 90 * 86_400_000

/** Deletes notifications and threads that ended more than 90 days ago. */
export async function pruneNotifications(hub: Hub): Promise<void> {
  const before = hub.clock.now() - retentionMs
  await pruneRows(hub, notifications, lt(notifications.finishedAt, before), notifications.finishedAt, notifications.id)
  await record(hub, async tx => {
    await tx
      .delete(notificationThreads)
      .where(and(eq(notificationThreads.state, 'ended'), lt(notificationThreads.updatedAt, before)))
    return { result: undefined }
  })
}
