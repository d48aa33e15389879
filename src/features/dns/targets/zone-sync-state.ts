import { and, eq, ne, or } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import { dnsZones } from '../zones/tables'
import { type TargetRow, targetsOf, touchZone } from './target-rows'
import { isSynced, worstOf, type SyncState } from '../sync/three-way'

/** State of a zone over all of its enabled targets. */
export const zoneSyncState = (
  targets: readonly Pick<TargetRow, 'state' | 'lastReadAt'>[],
): { isSynced: boolean; syncState: SyncState } => ({
  isSynced: targets.every(one => one.lastReadAt !== null && isSynced(one.state)),
  syncState: worstOf(targets.map(one => one.state)),
})

/** Updates the columns that zones are filtered by, in the transaction that changes a target. */
export async function updateZoneSyncState(tx: Tx, zoneId: string): Promise<void> {
  const state = zoneSyncState(await targetsOf(tx, zoneId))
  const moved = await tx
    .update(dnsZones)
    .set(state)
    .where(and(eq(dnsZones.id, zoneId), or(ne(dnsZones.isSynced, state.isSynced), ne(dnsZones.syncState, state.syncState))))
    .returning({ id: dnsZones.id, workspaceId: dnsZones.workspaceId })
  for (const zone of moved) touchZone(tx, zone)
}
