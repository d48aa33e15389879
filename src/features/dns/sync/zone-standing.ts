import { and, eq, ne, or } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import { dnsZones } from '../tables'
import type { TargetRow } from './target-rows'
import { targetsOf, touchZone } from './target-rows'
import { isSynced, worstOf, type SyncState } from './three-way'

/** How a zone stands at all of its targets that are kept up. */
export const standingAt = (
  targets: readonly Pick<TargetRow, 'state' | 'lastReadAt'>[],
): { isSynced: boolean; syncState: SyncState } => ({
  isSynced: targets.every(one => one.lastReadAt !== null && isSynced(one.state)),
  syncState: worstOf(targets.map(one => one.state)),
})

/** Brings what lists find a zone by to the states of its targets, in the transaction that changes one of them. */
export async function keepStanding(tx: Tx, zoneId: string): Promise<void> {
  const standing = standingAt(await targetsOf(tx, zoneId))
  const moved = await tx
    .update(dnsZones)
    .set(standing)
    .where(and(eq(dnsZones.id, zoneId), or(ne(dnsZones.isSynced, standing.isSynced), ne(dnsZones.syncState, standing.syncState))))
    .returning({ id: dnsZones.id, workspaceId: dnsZones.workspaceId })
  for (const zone of moved) touchZone(tx, zone)
}
