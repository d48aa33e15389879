import type { JobDraft } from '../../core/jobs/draft'

export const gapsJobKind = 'certificates.gaps'

/** How long after a scan, a report, or a change of a zone the gaps are evaluated (ms), so that many of them cause one run. */
export const settleMs = 30_000

/** Works out the gaps again at a time (ms UTC) at which they change by themselves. Doesn’t keep others from being added. */
export const gapsJobAt = (workspaceId: string, runAt: number): JobDraft => ({
  ...gapsJobFor(workspaceId, runAt),
  uniqueKey: `${workspaceId} later`,
  replaces: true,
})

/** Evaluates the gaps when the acknowledgement of a gap expires. Replaces the job for a previous acknowledgement. */
export const gapsJobAfter = (workspaceId: string, gapId: string, runAt: number): JobDraft => ({
  ...gapsJobFor(workspaceId, runAt),
  uniqueKey: gapId,
  replaces: true,
})

/** A job that evaluates the gaps of a workspace. @param runAt ms UTC; now if absent */
export const gapsJobFor = (workspaceId: string, runAt?: number): JobDraft => ({
  kind: gapsJobKind,
  payload: { workspace_id: workspaceId },
  uniqueKey: workspaceId,
  ...(runAt !== undefined && { runAt }),
})
