import { eq } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import type { JobDraft } from '../../core/jobs/draft'
import { Problem } from '../../core/problem'
import { actionView, type ActionRow } from './action-view'
import { addActionHint, endAction } from './end'
import type { ActionKind } from './kind'
import type { ActionView } from './shapes'
import { plannedSteps } from './steps'
import { actionResources, actions, type ResourceRef } from './tables'

/** A new action: the input of its kind and the resources it works on, the main one first, at most 20. */
interface ActionDraft<I> {
  resources: [ResourceRef, ...ResourceRef[]]
  input: I
  /** The part of the result that is already known. */
  result?: Record<string, unknown>
}

/**
 * Starts an action within the caller's change, which must return the action as its result and enqueue the job.
 * @throws Problem 409 `resource_locked` while another action works on one of the resources
 */
export async function startAction<I extends Record<string, unknown>>(
  tx: Tx,
  by: Pick<Ctx, 'hub' | 'workspaceId' | 'actor'>,
  kind: Pick<ActionKind<I>, 'type' | 'area' | 'cancelable' | 'steps'>,
  draft: ActionDraft<I>,
): Promise<{ action: ActionView; job: JobDraft }> {
  const row = await addAction(tx, by, kind, draft)
  return { action: actionView(row), job: jobOf(row) }
}

async function addAction<I extends Record<string, unknown>>(
  tx: Tx,
  by: Pick<Ctx, 'hub' | 'workspaceId' | 'actor'>,
  kind: Pick<ActionKind<I>, 'type' | 'area' | 'cancelable' | 'steps'>,
  { resources, input, result }: ActionDraft<I>,
): Promise<ActionRow> {
  if (resources.length > 20) throw new RangeError('An action can have at most 20 resources.')
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
      cancelable: kind.cancelable,
      cancelRequestedAt: null,
      progress: 0,
      steps: plannedSteps(kind.steps),
      input,
      state: null,
      chunkInProgress: false,
      result: result ?? null,
      error: null,
      actor: by.actor,
      createdAt: by.hub.clock.now(),
      startedAt: null,
      finishedAt: null,
    })
    .returning()
  // Lock in id order to avoid deadlocks between actions with the same resources.
  for (const resource of resources.toSorted((a, b) => (a.id < b.id ? -1 : 1))) await lock(tx, row!, resource)
  addActionHint(tx, row!)
  return row!
}

/**
 * Adds an action that has nothing to do, and has therefore succeeded already.
 * @throws Problem 409 `resource_locked` while another action works on one of the resources
 */
export async function addFinishedAction<I extends Record<string, unknown>>(
  tx: Tx,
  by: Pick<Ctx, 'hub' | 'workspaceId' | 'actor'>,
  kind: Pick<ActionKind<I>, 'type' | 'area' | 'cancelable' | 'steps'>,
  draft: ActionDraft<I>,
): Promise<ActionView> {
  const row = await addAction(tx, by, kind, draft)
  const ended = await endAction(tx, row, { status: 'success', result: draft.result ?? null }, by.hub.clock.now())
  return actionView(ended!)
}

/** The job that runs the next chunk of an action. Its lane is the id of the action, to find actions without a job. */
const jobOf = ({ id, type }: { id: string; type: string }): JobDraft => ({
  kind: type,
  payload: { action_id: id },
  lane: id,
})

async function lock(tx: Tx, { id: actionId, workspaceId }: ActionRow, { type, id }: ResourceRef): Promise<void> {
  // Built-in resources have the same id in all workspaces.
  const locked = `${workspaceId} ${id}`
  for (;;) {
    const [lockRow] = await tx
      .insert(actionResources)
      .values({ actionId, resourceType: type, resourceId: id, locked })
      .onConflictDoNothing({ target: actionResources.locked })
      .returning({ locked: actionResources.locked })
    if (lockRow) return
    const [holder] = await tx
      .select({ id: actions.id, type: actions.type })
      .from(actionResources)
      .innerJoin(actions, eq(actions.id, actionResources.actionId))
      .where(eq(actionResources.locked, locked))
    // The holder may have finished between the two statements.
    if (!holder) continue
    throw new Problem(
      'resource_locked',
      `The action ${holder.id} (${holder.type}) is working on ${id}. Wait until it has finished.`,
      {
        fields: { holder: holder.id },
      },
    )
  }
}
