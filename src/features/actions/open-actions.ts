import { and, eq, exists, gt, inArray, type Column, type SQL } from 'drizzle-orm'
import type { Reader } from '../../core/db/transaction'
import { actionResources, actions, openStates } from './tables'

/** Which of these actions have not finished. */
export async function openActionIds(read: Reader, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await read
    .select({ id: actions.id })
    .from(actions)
    .where(and(inArray(actions.id, [...ids]), inArray(actions.status, [...openStates])))
  return new Set(rows.map(row => row.id))
}

/** A condition: an action of this type on the resource has failed since then. */
export const hasFailedSince = (read: Reader, resourceId: Column, type: string, since: number): SQL =>
  exists(
    read
      .select({ id: actions.id })
      .from(actionResources)
      .innerJoin(actions, eq(actions.id, actionResources.actionId))
      .where(
        and(
          eq(actionResources.resourceId, resourceId),
          eq(actions.type, type),
          eq(actions.status, 'error'),
          gt(actions.finishedAt, since),
        ),
      ),
  )
