import type { JobDraft } from '../../../core/jobs/queue'

export const notifyKind = 'dns.notify'

// Changes of a zone within this time are told as one. The other hubs of a database have read them by then, as a rule.
const togetherMs = 75

/** What one round of telling is about. */
export interface NotifyPayload extends Record<string, unknown> {
  /** A zone, or a catalog as `catalogId` names it. */
  zone_id: string
  /** 1 is the first. */
  round: number
  /** Those that are still to be told; absent for all. */
  secondary_ids?: string[]
}

/** The job that tells secondaries of a change of a zone. */
export const notifyDraft = (zone: { id: string; workspaceId: string }, now: number): JobDraft => ({
  kind: notifyKind,
  lane: zone.workspaceId,
  payload: { zone_id: zone.id, round: 1 } satisfies NotifyPayload,
  runAt: now + togetherMs,
  uniqueKey: zone.id,
})
