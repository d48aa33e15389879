import { forgetCallers } from '../../access/callers'
import type { AuditAction } from '../../core/audit-actions'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { conflict } from '../../core/problem'
import { changedRow, lockRow, saveRow } from '../../core/rows'
import type { WorkspaceSuspension, WorkspaceView } from './shapes'
import { workspaceRows, workspaceView } from './workspaces'

/**
 * Suspends a workspace until it is resumed. If it is already suspended, only the reason changes.
 * @throws Problem 404, 409 for the operator's own workspace
 */
export const suspendWorkspace = (ctx: Ctx, id: string, input: WorkspaceSuspension): Promise<WorkspaceView> =>
  suspendOrResume(ctx, id, 'account.workspace.suspend', { reason: input.reason ?? null })

/** Resumes a suspended workspace. @throws Problem 404 */
export const resumeWorkspace = (ctx: Ctx, id: string): Promise<WorkspaceView> =>
  suspendOrResume(ctx, id, 'account.workspace.resume', null)

async function suspendOrResume(
  ctx: Ctx,
  id: string,
  action: AuditAction,
  suspension: { reason: string | null } | null,
): Promise<WorkspaceView> {
  const view = await change(ctx, action, async tx => {
    const row = await lockRow(tx, ctx, workspaceRows, id, id)
    if (row.isOperator && suspension) throw conflict('The operator’s workspace can’t be suspended.')
    const after = await saveRow(tx, ctx, workspaceRows, row, {
      suspendedAt: suspension && (row.suspendedAt ?? ctx.hub.clock.now()),
      suspensionReason: suspension && suspension.reason,
    })
    return await changedRow(workspaceRows, row, after, workspaceView)
  })
  await forgetCallers(ctx.hub)
  return view
}
