import { and, count, desc, eq, gt, inArray, isNotNull, isNull, lt, or, sql, type SQL } from 'drizzle-orm'
import { record } from '../../core/change'
import { notices } from '../../core/db/tables'
import type { Hub } from '../../core/hub'
import { pruneRows } from '../../core/rows'

const dayMs = 86_400_000
const readDays = 90
const unreadDays = 365
/** Maximum number of notices per workspace. Read and old ones are deleted first. */
export const maxNotices = 1_000
// Keeps transactions short: each blocks all other writes of the process.
const batchSize = 500

/** Deletes read notices after 90 days, unread ones after a year, and those over the limit of a workspace. */
export async function pruneNotices(hub: Hub): Promise<void> {
  const now = hub.clock.now()
  const old = or(
    and(isNotNull(notices.readAt), lt(notices.occurredAt, now - readDays * dayMs)),
    and(isNull(notices.readAt), lt(notices.occurredAt, now - unreadDays * dayMs)),
  )
  await pruneRows(hub, notices, old, notices.occurredAt, notices.id)
  const overLimit = await hub.read
    .select({ workspaceId: notices.workspaceId })
    .from(notices)
    .groupBy(notices.workspaceId)
    .having(gt(count(), maxNotices))
  // Ordered by what to keep, so that hubs pruning at the same time select the same rows.
  const byImportance = [sql`case when ${notices.readAt} is null then 0 else 1 end`, desc(notices.occurredAt), desc(notices.id)]
  for (const { workspaceId } of overLimit)
    while ((await deleteBatch(hub, eq(notices.workspaceId, workspaceId), byImportance)) === batchSize) continue
}

/** Deletes a batch of notices in the given order, except the first that are within the limit. Returns how many. */
async function deleteBatch(hub: Hub, condition: SQL, order: SQL[]): Promise<number> {
  return await record(hub, async tx => {
    const rows = await tx
      .select({ id: notices.id })
      .from(notices)
      .where(condition)
      .orderBy(...order)
      .limit(batchSize)
      .offset(maxNotices)
    if (rows.length > 0)
      await tx.delete(notices).where(
        inArray(
          notices.id,
          rows.map(row => row.id),
        ),
      )
    return { result: rows.length }
  })
}
