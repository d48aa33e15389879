import { eq, inArray } from 'drizzle-orm'
import type { Tx } from '../../core/db/transaction'
import type { JobKind } from '../../core/jobs/job'
import type { JobDraft } from '../../core/jobs/queue'
import { clearHistory } from './history/clear'
import { dnsRecords, dnsRrsets } from './tables'

/** Clears away what is left of a zone that was deleted, piece by piece: its records, which nothing finds any more, and its history. */
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

// Written in some tens of milliseconds.
const mostAtOnce = 500

/** Deletes some of the records of a zone, then of its rrsets. @returns whether there may be more */
async function clearRecords(tx: Tx, zoneId: string): Promise<boolean> {
  for (const table of [dnsRecords, dnsRrsets]) {
    const some = await tx.select({ id: table.id }).from(table).where(eq(table.zoneId, zoneId)).limit(mostAtOnce)
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
