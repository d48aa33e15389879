import { eq } from 'drizzle-orm'
import { forgetCallers } from '../../access/callers'
import { workspaces } from '../../access/tables'
import { target } from '../../core/audit'
import type { AuditAction } from '../../core/audit-actions'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { forUpdate } from '../../core/db/dialect'
import { notFound, conflict } from '../../core/problem'
import type { WorkspaceView } from './shapes'
import { workspaceView } from './workspaces'

/**
 * Suspends a workspace until it is resumed. If it is already suspended, only the reason changes.
 * @throws Problem 404, 409 for the operator's own workspace
 */
export const suspendWorkspace = (ctx: Ctx, id: string, reason: string | null): Promise<WorkspaceView> =>
  suspendOrResume(ctx, id, 'account.workspace.suspend', { reason })

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
    const [row] = await forUpdate(tx.select().from(workspaces).where(eq(workspaces.id, id)))
    if (!row) throw notFound('workspace')
    if (row.isOperator && suspension) throw conflict('The operator’s workspace cannot be suspended.')
    const now = ctx.hub.clock.now()
    const [after] = await tx
      .update(workspaces)
      .set({
        suspendedAt: suspension && (row.suspendedAt ?? now),
        suspensionReason: suspension && suspension.reason,
        version: row.version + 1,
        updatedAt: now,
      })
      .where(eq(workspaces.id, id))
      .returning()
    return {
      result: workspaceView(after!),
      target: target('workspace', row),
      before: workspaceView(row),
      after: workspaceView(after!),
    }
  })
  forgetCallers(ctx.hub)
  return view
}
