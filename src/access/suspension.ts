import type { AuditAction } from '../core/audit-actions'
import { eq } from 'drizzle-orm'
import { target } from '../core/audit'
import { change } from '../core/change'
import { instant } from '../core/clock'
import type { Ctx } from '../core/ctx'
import { locking } from '../core/db/dialect'
import { conflict, notFound, Problem } from '../core/problem'
import { workspaceView } from './administer'
import { forgetCallers } from './callers'
import { workspaces } from './tables'
import type { WorkspaceView } from './workspace-shapes'

/**
 * What is sent by itself is looked at again this often while its workspace is suspended; when it is resumed, nobody has to be told
 * what waits.
 */
export const suspendedPauseMs = 5 * 60_000

/** The answer to whatever is asked of a suspended workspace. */
export const suspended = (workspace: { suspendedAt: number | null; suspensionReason: string | null }): Problem =>
  new Problem(
    'workspace_suspended',
    `The operator suspended this workspace${workspace.suspensionReason ? `: ${workspace.suspensionReason}` : '.'}`,
    { members: { suspended_at: instant(workspace.suspendedAt) } },
  )

/**
 * Keeps everybody out of a workspace until it is resumed. Suspending it again changes the reason alone.
 * @throws Problem 404, 409 for the operator's own
 */
export const suspendWorkspace = (ctx: Ctx, id: string, reason: string | null): Promise<WorkspaceView> =>
  suspendOrResume(ctx, id, 'account.workspace.suspend', { reason })

/** Lets everybody in again. @throws Problem 404 */
export const resumeWorkspace = (ctx: Ctx, id: string): Promise<WorkspaceView> =>
  suspendOrResume(ctx, id, 'account.workspace.resume', null)

async function suspendOrResume(
  ctx: Ctx,
  id: string,
  action: AuditAction,
  suspension: { reason: string | null } | null,
): Promise<WorkspaceView> {
  const view = await change(ctx, action, async tx => {
    const [row] = await locking(tx.select().from(workspaces).where(eq(workspaces.id, id)))
    if (!row) throw notFound('workspace')
    if (row.isOperator && suspension) throw conflict('The operator’s own workspace cannot be suspended.')
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
