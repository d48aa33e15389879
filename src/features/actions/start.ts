import { eq } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import type { JobDraft } from '../../core/jobs/queue'
import { Problem } from '../../core/problem'
import { actionView, type ActionRow } from './action-view'
import { touchAction } from './end'
import type { ActionKind } from './kind'
import type { ActionView } from './shapes'
import { plannedSteps } from './steps'
import { actionResources, actions, type ResourceRef } from './tables'

/** What an action is to do: the input of its kind, and what it works on, the main resource first, 20 at most. */
export interface ActionDraft<I> {
  resources: [ResourceRef, ...ResourceRef[]]
  input: I
  /** What is known of the result beforehand. */
  result?: Record<string, unknown>
}

/**
 * Starts an action as a step of the caller's change: the change's result is the action, and its job one of the change's jobs.
 * @throws Problem 409 `resource_locked` while another action works on one of the resources
 */
export async function startAction<I extends Record<string, unknown>>(
  tx: Tx,
  by: Pick<Ctx, 'hub' | 'workspaceId' | 'actor'>,
  kind: Pick<ActionKind<I>, 'type' | 'area' | 'cancellable' | 'steps'>,
  { resources, input, result }: ActionDraft<I>,
): Promise<{ action: ActionView; job: JobDraft }> {
  if (resources.length > 20) throw new RangeError('An action works on 20 resources at most.')
  const [row] = await tx
    .insert(actions)
    .values({
      id: newId('act'),
      workspaceId: by.workspaceId,
      type: kind.type,
      area: kind.area,
      resourceType: resources[0].type,
      resourceId: resources[0].id,
      resources,
      status: 'pending',
      cancellable: kind.cancellable,
      cancelRequestedAt: null,
      progress: 0,
      steps: plannedSteps(kind.steps),
      input,
      state: null,
      underWay: false,
      result: result ?? null,
      error: null,
      actor: by.actor,
      createdAt: by.hub.clock.now(),
      startedAt: null,
      finishedAt: null,
    })
    .returning()
  // In one order, so that two actions that want the same resources never wait for each other.
  for (const resource of resources.toSorted((a, b) => (a.id < b.id ? -1 : 1))) await lock(tx, row!, resource)
  touchAction(tx, row!)
  return { action: actionView(row!), job: jobOf(row!) }
}

/** The job of an action's next piece. The lane tells whether an action still has one. */
export const jobOf = ({ id, type }: { id: string; type: string }): JobDraft => ({
  kind: type,
  payload: { action_id: id },
  lane: id,
})

async function lock(tx: Tx, { id: actionId, workspaceId }: ActionRow, { type, id }: ResourceRef): Promise<void> {
  // What comes with the program has one id in all workspaces.
  const locked = `${workspaceId} ${id}`
  for (;;) {
    const [taken] = await tx
      .insert(actionResources)
      .values({ actionId, resourceType: type, resourceId: id, locked })
      .onConflictDoNothing({ target: actionResources.locked })
      .returning({ locked: actionResources.locked })
    if (taken) return
    const [holder] = await tx
      .select({ id: actions.id, type: actions.type })
      .from(actionResources)
      .innerJoin(actions, eq(actions.id, actionResources.actionId))
      .where(eq(actionResources.locked, locked))
    // It may have ended between the two.
    if (!holder) continue
    throw new Problem('resource_locked', `The action ${holder.id} (${holder.type}) works on ${id}. Wait for its end.`, {
      members: { holder: holder.id },
    })
  }
}
