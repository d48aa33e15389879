import { eq } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import { dnsZones } from '../tables'
import type { TargetRow } from './target-rows'
import { targetsOf } from './target-rows'
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
  await tx
    .update(dnsZones)
    .set(standingAt(await targetsOf(tx, zoneId)))
    .where(eq(dnsZones.id, zoneId))
}
