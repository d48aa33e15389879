import { and, asc, eq, inArray, lt } from 'drizzle-orm'
import { record } from '../../core/change'
import type { Hub } from '../../core/hub'
import { notifications, notificationThreads } from './tables'

const dayMs = 86_400_000
/** How long the log keeps what is over, in days. */
export const logDays = 90
// A transaction is kept short, since it holds up every other write of the process.
const mostAtOnce = 500

/** Deletes what was over 90 days ago: notifications, and what channels were told of matters that ended. */
export async function pruneNotifications(hub: Hub): Promise<void> {
  const before = hub.clock.now() - logDays * dayMs
  for (;;) {
    const deleted = await record(hub, async tx => {
      const rows = await tx
        .select({ id: notifications.id })
        .from(notifications)
        .where(lt(notifications.finishedAt, before))
        .orderBy(asc(notifications.finishedAt), asc(notifications.id))
        .limit(mostAtOnce)
      if (rows.length > 0)
        await tx.delete(notifications).where(
          inArray(
            notifications.id,
            rows.map(row => row.id),
          ),
        )
      return { result: rows.length }
    })
    if (deleted < mostAtOnce) break
  }
  await record(hub, async tx => {
    await tx
      .delete(notificationThreads)
      .where(and(eq(notificationThreads.state, 'ended'), lt(notificationThreads.updatedAt, before)))
    return { result: undefined }
  })
}
