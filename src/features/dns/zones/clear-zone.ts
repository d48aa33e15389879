import { eq, inArray } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import type { JobKind } from '../../../core/jobs/job'
import type { JobDraft } from '../../../core/jobs/draft'
import { clearHistory } from '../history/clear-history'
import { dnsRecords, dnsRrsets } from '../records/tables'

/** Deletes the records and the history of a deleted zone, in batches. */
export const clearZoneJob: JobKind<{ zone_id: string }> = {
  kind: 'dns.clear-zone',
  concurrency: 1,
  leaseMs: 30_000,
  retryAfter: attempts => Math.min(1_000 * 2 ** (attempts - 1), 300_000),
  run:
    async (hub, { payload: { zone_id } }) =>
    async tx => {
      const more = (await clearRecords(tx, zone_id)) || (await clearHistory(tx, zone_id, Number.MAX_SAFE_INTEGER))
      return { result: more ? { again: hub.clock.now() } : undefined }
    },
}

export const clearZone = (zoneId: string): JobDraft => ({ kind: clearZoneJob.kind, payload: { zone_id: zoneId } })

// A batch takes some tens of milliseconds.
const batchSize = 500

/** Deletes a batch of records of a zone, then of its rrsets. @returns whether there may be more */
async function clearRecords(tx: Tx, zoneId: string): Promise<boolean> {
  for (const table of [dnsRecords, dnsRrsets]) {
    const some = await tx.select({ id: table.id }).from(table).where(eq(table.zoneId, zoneId)).limit(batchSize)
    if (some.length === 0) continue
    await tx.delete(table).where(
      inArray(
        table.id,
        some.map(row => row.id),
      ),
    )
    return true
  }
  return false
}
