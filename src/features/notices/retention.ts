import { and, asc, count, desc, eq, gt, inArray, isNotNull, isNull, lt, or, sql, type SQL } from 'drizzle-orm'
import { record } from '../../core/change'
import { notices } from '../../core/db/tables'
import type { Hub } from '../../core/hub'

const dayMs = 86_400_000
const readDays = 90
const unreadDays = 365
/** Notices that a workspace has at most; of more, read and old ones go first. */
export const mostNotices = 1_000
// A transaction is kept short, since it holds up every other write of the process.
const mostAtOnce = 500

/** Deletes notices that were read and came up 90 days ago, those a year old, and what a workspace has too many of. */
export async function pruneNotices(hub: Hub): Promise<void> {
  const now = hub.clock.now()
  const old = or(
    and(isNotNull(notices.readAt), lt(notices.occurredAt, now - readDays * dayMs)),
    and(isNull(notices.readAt), lt(notices.occurredAt, now - unreadDays * dayMs)),
  )
  const age = [asc(notices.occurredAt), asc(notices.id)]
  while ((await deleteSome(hub, old, age, 0)) === mostAtOnce) continue
  const crowded = await hub.read
    .select({ workspaceId: notices.workspaceId })
    .from(notices)
    .groupBy(notices.workspaceId)
    .having(gt(count(), mostNotices))
  // What is kept comes first: then two hubs that prune at once mean the same rows.
  const worth = [sql`case when ${notices.readAt} is null then 0 else 1 end`, desc(notices.occurredAt), desc(notices.id)]
  for (const { workspaceId } of crowded)
    while ((await deleteSome(hub, eq(notices.workspaceId, workspaceId), worth, mostNotices)) === mostAtOnce) continue
}

/** Deletes some of these, in this order, but the first few. Returns how many. */
async function deleteSome(hub: Hub, which: SQL | undefined, order: SQL[], kept: number): Promise<number> {
  return await record(hub, async tx => {
    const rows = await tx
      .select({ id: notices.id })
      .from(notices)
      .where(which)
      .orderBy(...order)
      .limit(mostAtOnce)
      .offset(kept)
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
