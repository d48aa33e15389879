import type { AuditAction } from '../../core/audit-actions'
import { and, eq, inArray } from 'drizzle-orm'
import type { AuditDraft } from '../../core/change-result'
import { jobContext } from '../../core/change'
import type { NoticeDraft } from '../../core/notices'
import type { Tx } from '../../core/db/transaction'
import { addChangeHint } from '../../core/change-hints'
import { Problem, problemBody } from '../../core/problem'
import type { ActionRow } from './action-view'
import { finishSteps } from './steps'
import { actionResources, actions, openStates, type ActionError } from './tables'

/** How an action ends. */
export type ActionEnd =
  | { status: 'success'; result: Record<string, unknown> | null }
  | { status: 'canceled' }
  | { status: 'error'; problem: Problem; result?: Record<string, unknown> }

/** Ends an action and unlocks its resources. Returns null if it had already finished. */
export async function endAction(tx: Tx, row: ActionRow, end: ActionEnd, now: number): Promise<ActionRow | null> {
  const [ended] = await tx
    .update(actions)
    .set({
      status: end.status,
      ...(end.status === 'success' && { progress: 100, result: end.result }),
      ...(end.status === 'error' && { error: errorOf(end.problem), ...(end.result && { result: end.result }) }),
      steps: finishSteps(row.steps, end.status, now),
      chunkInProgress: false,
      finishedAt: now,
    })
    .where(and(eq(actions.id, row.id), inArray(actions.status, [...openStates])))
    .returning()
  if (!ended) return null
  addActionHint(tx, ended)
  await tx.update(actionResources).set({ locked: null }).where(eq(actionResources.actionId, row.id))
  return ended
}

/** Notifies clients that stream changes that an action has progressed. */
export const addActionHint = (tx: Tx, { workspaceId, id, area, resourceId }: ActionRow): void =>
  addChangeHint(tx, { workspaceId, action: `${area}.action.update`, type: 'action', id, parentId: resourceId })

/** The audit event of a failed action. */
export const failureAudit = (row: ActionRow, action: AuditAction, problem: Problem): AuditDraft => ({
  workspaceId: row.workspaceId,
  action,
  outcome: 'failure',
  actor: row.actor,
  context: jobContext,
  targets: [
    { type: row.resourceType, id: row.resourceId, name: null },
    { type: 'action', id: row.id, name: null },
  ],
  reason: problem.detail,
})

/** The notice of a failed action; repeated failures on a resource share one notice. */
export const failureNotice = (row: ActionRow, problem: Problem): NoticeDraft => ({
  workspaceId: row.workspaceId,
  kind: 'action.failed',
  resource: { type: row.resourceType, id: row.resourceId, name: null },
  text: `The action ${row.type} on ${row.resourceId} failed. ${problem.detail}`,
  details: { action_id: row.id, type: row.type, code: problem.code },
  dedupKey: `${row.type} ${row.resourceId}`,
})

export const interrupted = (): Problem =>
  new Problem('interrupted', 'The process that ran the action stopped, and the action could not be resumed.')

function errorOf(problem: Problem): ActionError {
  const { type, title, status, detail, code, failure } = problemBody(problem, '') as unknown as ActionError
  return { type, title, status, detail, code, ...(failure !== undefined && { failure }) }
}
