import type { JobKind } from '../../core/jobs/job'
import type { JobDraft } from '../../core/jobs/queue'
import { clearHistory } from './history/clear'

/** Clears away what is left of a zone that was deleted, piece by piece. */
export const clearZoneJob: JobKind<{ zone_id: string }> = {
  kind: 'dns.clear-zone',
  concurrency: 1,
  leaseMs: 30_000,
  retryAfter: attempts => Math.min(1_000 * 2 ** (attempts - 1), 300_000),
  run:
    async (hub, { payload }) =>
    async tx => {
      const more = await clearHistory(tx, payload.zone_id, Number.MAX_SAFE_INTEGER)
      return { result: more ? { again: hub.clock.now() } : undefined }
    },
}

export const clearZone = (zoneId: string): JobDraft => ({ kind: clearZoneJob.kind, payload: { zone_id: zoneId } })
