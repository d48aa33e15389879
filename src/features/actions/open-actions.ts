import { and, count, desc, eq, exists, gt, inArray, type Column, type SQL } from 'drizzle-orm'
import type { Consequences } from '../../core/change-result'
import { forUpdate } from '../../core/db/dialect'
import type { Reader, Tx } from '../../core/db/transaction'
import type { ActionRow } from './action-view'
import { endAction } from './end'
import { actionTopic } from './kind'
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

/** The newest actions that work on a resource. */
export const latestActionsOf = async (
  read: Reader,
  workspaceId: string,
  resourceId: string,
  max: number,
): Promise<ActionRow[]> => {
  const rows = await read
    .select({ action: actions })
    .from(actionResources)
    .innerJoin(actions, eq(actions.id, actionResources.actionId))
    .where(and(eq(actionResources.resourceId, resourceId), eq(actions.workspaceId, workspaceId)))
    .orderBy(desc(actionResources.actionId))
    .limit(max)
  return rows.map(row => row.action)
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

/** The number of actions of a type on a resource that were started since a time (ms UTC), or only of those that failed. */
export async function countStarted(
  read: Reader,
  resourceId: string,
  type: string,
  since: number,
  status?: 'error',
): Promise<number> {
  const [row] = await read
    .select({ n: count() })
    .from(actionResources)
    .innerJoin(actions, eq(actions.id, actionResources.actionId))
    .where(
      and(
        eq(actionResources.resourceId, resourceId),
        eq(actions.type, type),
        gt(actions.createdAt, since),
        status && eq(actions.status, status),
      ),
    )
  return row!.n
}

/**
 * Ends an action of this type, if it has not finished, because its resource is deleted in the same transaction. What a chunk in progress
 * did is not committed.
 */
export async function cancelForDeletion(
  tx: Tx,
  id: string,
  type: string,
  now: number,
): Promise<Pick<Consequences, 'wakeTopics'>> {
  const [row] = await forUpdate(
    tx
      .select()
      .from(actions)
      .where(and(eq(actions.id, id), eq(actions.type, type))),
  )
  const ended = row && (await endAction(tx, row, { status: 'canceled' }, now))
  return ended ? { wakeTopics: [actionTopic(id)] } : {}
}
