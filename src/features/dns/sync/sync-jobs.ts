import type { JobDraft } from '../../../core/jobs/draft'

export const syncKind = 'dns.sync-zone'

/** Syncs a zone. Only one job per zone is queued at a time. */
export const syncJobFor = (zoneId: string): JobDraft => ({
  kind: syncKind,
  payload: { zone_id: zoneId },
  uniqueKey: zoneId,
})
