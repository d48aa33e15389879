import type { JobDraft } from '../../../core/jobs/queue'

export const syncKind = 'dns.sync-zone'

/** One zone at a time is brought to its targets: while a job waits, a second is not added. */
export const syncJobFor = (zoneId: string, runAt?: number): JobDraft => ({
  kind: syncKind,
  payload: { zone_id: zoneId },
  uniqueKey: zoneId,
  ...(runAt !== undefined && { runAt }),
})
