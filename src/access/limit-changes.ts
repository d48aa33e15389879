import type { JobDraft } from '../core/jobs/queue'

export const limitsChangedKind = 'limits.compare'

/** Whose use may stand differently to its limits: one workspace, or those of a plan whose id is behind `after`. */
export type LimitsChanged = { workspace_id: string } | { plan_id: string; after: string }

/** The job that compares what is in use with limits that changed, or with use that did. */
export const limitsChanged = (payload: LimitsChanged): JobDraft => ({ kind: limitsChangedKind, payload })
