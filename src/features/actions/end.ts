import type { AuditAction } from '../../core/audit-actions'
import { and, eq, inArray } from 'drizzle-orm'
import type { AuditDraft } from '../../core/change'
import { jobContext } from '../../core/change'
import type { NoticeDraft } from '../../core/notices'
import type { Tx } from '../../core/db/transaction'
import { touch } from '../../core/touches'
import { Problem, problemBody } from '../../core/problem'
import type { ActionRow } from './action-view'
import { close } from './steps'
import { actionResources, actions, openStates, type ActionError } from './tables'

/** How an action ends. */
export type End =
  | { status: 'success'; result: Record<string, unknown> | null }
  | { status: 'cancelled' }
  | { status: 'error'; problem: Problem; result?: Record<string, unknown> }

/** Ends an action that is not over, and frees its resources. Null when it had ended before. */
export async function endAction(tx: Tx, row: ActionRow, end: End, now: number): Promise<ActionRow | null> {
  const [ended] = await tx
    .update(actions)
    .set({
      status: end.status,
      ...(end.status === 'success' && { progress: 100, result: end.result }),
      ...(end.status === 'error' && { error: errorOf(end.problem), ...(end.result && { result: end.result }) }),
      steps: close(row.steps, end.status, now),
      underWay: false,
      finishedAt: now,
    })
    .where(and(eq(actions.id, row.id), inArray(actions.status, [...openStates])))
    .returning()
  if (!ended) return null
  touchAction(tx, ended)
  await tx.update(actionResources).set({ locked: null }).where(eq(actionResources.actionId, row.id))
  return ended
}

/** Tells who listens that an action is further than before. */
export const touchAction = (tx: Tx, { workspaceId, id, area, resourceId }: ActionRow): void =>
  touch(tx, { workspaceId, action: `${area}.action.move`, type: 'action', id, within: resourceId })

/** The entry of the audit log for an action that ended with an error. */
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

/** What people are told of it; one notice for what fails again and again. */
export const failureNotice = (row: ActionRow, problem: Problem): NoticeDraft => ({
  workspaceId: row.workspaceId,
  kind: 'action.failed',
  resource: { type: row.resourceType, id: row.resourceId, name: null },
  text: `${row.type} of ${row.resourceId} ended with an error. ${problem.detail}`,
  details: { action_id: row.id, type: row.type, code: problem.code },
  matter: `${row.type} ${row.resourceId}`,
})

export const interrupted = (): Problem =>
  new Problem('interrupted', 'The process that worked on it ended, and the work cannot be taken up in the middle.')

function errorOf(problem: Problem): ActionError {
  const { type, title, status, detail, code } = problemBody(problem, '') as unknown as ActionError
  return { type, title, status, detail, code }
}
