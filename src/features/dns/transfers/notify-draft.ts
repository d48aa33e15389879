import type { JobDraft } from '../../../core/jobs/draft'

export const notifyKind = 'dns.notify'

// Delay to merge changes of a zone into one NOTIFY. Other hubs have usually loaded them by then.
const debounceMs = 75

/** One round of notifications. */
export interface NotifyPayload extends Record<string, unknown> {
  /** A zone, or a catalog as `catalogId` identifies it. */
  zone_id: string
  /** Starts at 1. */
  round: number
  /** Secondaries still to notify; absent for all. */
  secondary_ids?: string[]
}

/** The job that notifies secondaries of a zone change. */
export const notifyDraft = (zone: { id: string; workspaceId: string }, now: number): JobDraft => ({
  kind: notifyKind,
  lane: zone.workspaceId,
  payload: { zone_id: zone.id, round: 1 } satisfies NotifyPayload,
  runAt: now + debounceMs,
  uniqueKey: zone.id,
})
