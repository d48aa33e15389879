import { instant } from '../core/clock'
import { Problem } from '../core/problem'

/**
 * While a workspace is suspended, its deliveries and streams are rescheduled at this interval, so that they resume on their own
 * once it is resumed.
 */
export const suspendedRetryMs = 5 * 60_000

/** The problem for any request to a suspended workspace. */
export const workspaceSuspended = (workspace: { suspendedAt: number | null; suspensionReason: string | null }): Problem =>
  new Problem(
    'workspace_suspended',
    `This workspace was suspended by the operator${workspace.suspensionReason ? `: ${workspace.suspensionReason}` : '.'}`,
    { fields: { suspended_at: instant(workspace.suspendedAt) } },
  )
