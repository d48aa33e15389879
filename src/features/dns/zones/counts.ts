import { and, count, eq } from 'drizzle-orm'
import type { Ctx } from '../../../core/ctx'
import { countRows, countsByWord } from '../../../core/db/counts'
import { syncStates, unsyncedMark, type SyncState } from '../sync/three-way'
import { dnsRecordMarks } from '../records/tables'
import { dnsZones } from './tables'

/** Counts the zones of a workspace by sync state, and its out-of-sync records (up to 10,000). */
export async function zoneCounts({ hub, workspaceId }: Ctx): Promise<{
  zones: { total: number; by_state: Record<SyncState, number> }
  records_out_of_sync: number
}> {
  const { read } = hub
  const rows = await read
    .select({ word: dnsZones.syncState, n: count() })
    .from(dnsZones)
    .where(eq(dnsZones.workspaceId, workspaceId))
    .groupBy(dnsZones.syncState)
  const unsynced = read
    .select({ id: dnsRecordMarks.recordId })
    .from(dnsRecordMarks)
    .where(and(eq(dnsRecordMarks.workspaceId, workspaceId), eq(dnsRecordMarks.mark, unsyncedMark)))
  return {
    zones: { total: rows.reduce((sum, row) => sum + row.n, 0), by_state: countsByWord(syncStates, rows) },
    records_out_of_sync: await countRows(read, unsynced),
  }
}
