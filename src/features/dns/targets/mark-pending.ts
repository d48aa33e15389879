import { eq } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import type { JobDraft } from '../../../core/jobs/draft'
import { batches } from '../records/rows'
import { rrsetKey } from '../zones/names'
import { type ZoneRow } from '../zones/rows'
import { deleteFoundRecords } from './found-records'
import { syncJobFor } from '../sync/sync-jobs'
import { dnsTargetRrsets, dnsZoneTargets } from './tables'
import { updateRecordMarks, targetsOf } from './target-rows'
import { updateZoneSyncState } from './zone-sync-state'

/**
 * Marks changed rrsets of a zone as pending at its targets, in the transaction of the change.
 * @returns the sync job, unless the zone is applied manually
 */
export async function markPending(
  tx: Tx,
  zone: ZoneRow,
  changed: readonly { name: string; type: string }[],
  now: number,
): Promise<JobDraft[]> {
  if (zone.targetCount === 0 || changed.length === 0) return []
  const rrsets = [...new Map(changed.map(({ name, type }) => [rrsetKey({ name, type }), { name, type }])).values()]
  for (const target of await targetsOf(tx, zone.id)) {
    await write(tx, zone, target.id, rrsets, 'pending', now)
    await deleteFoundRecords(tx, target.id, rrsets.map(rrsetKey))
    if (target.state === 'synced' || target.state === 'ignored' || target.state === 'unknown')
      await tx.update(dnsZoneTargets).set({ state: 'pending' }).where(eq(dnsZoneTargets.id, target.id))
  }
  await updateZoneSyncState(tx, zone.id)
  await updateRecordMarks(tx, zone, rrsets)
  return zone.apply === 'auto' ? [syncJobFor(zone.id)] : []
}

/** Marks the rrsets at a new target as unknown. */
export async function markUnknown(
  tx: Tx,
  zone: ZoneRow,
  targetId: string,
  rrsets: readonly { name: string; type: string }[],
  now: number,
): Promise<void> {
  await write(tx, zone, targetId, rrsets, 'unknown', now)
  await updateZoneSyncState(tx, zone.id)
  await updateRecordMarks(tx, zone, rrsets)
}

async function write(
  tx: Tx,
  zone: ZoneRow,
  targetId: string,
  rrsets: readonly { name: string; type: string }[],
  state: 'pending' | 'unknown',
  now: number,
): Promise<void> {
  const nothing = { agreed: null, observed: null, observedTtl: null, observedValues: null, sent: null }
  const states = { state, kind: null, detail: null, since: now }
  for (const some of batches(rrsets))
    await tx
      .insert(dnsTargetRrsets)
      .values(some.map(one => ({ targetId, zoneId: zone.id, ...one, ...nothing, ...states })))
      .onConflictDoUpdate({ target: [dnsTargetRrsets.targetId, dnsTargetRrsets.name, dnsTargetRrsets.type], set: states })
}

/** Deletes a target and what was known of its rrsets. */
export async function removeTarget(tx: Tx, zone: ZoneRow, targetId: string): Promise<void> {
  const rows = await tx
    .select({ name: dnsTargetRrsets.name, type: dnsTargetRrsets.type })
    .from(dnsTargetRrsets)
    .where(eq(dnsTargetRrsets.targetId, targetId))
  await tx.delete(dnsZoneTargets).where(eq(dnsZoneTargets.id, targetId))
  await updateZoneSyncState(tx, zone.id)
  await updateRecordMarks(tx, zone, rows)
}

/** Makes the next sync read all targets regardless of their serials, since the rules have changed. */
export async function forceFullRead(tx: Tx, zoneId: string): Promise<void> {
  await tx.update(dnsZoneTargets).set({ remoteSerial: null }).where(eq(dnsZoneTargets.zoneId, zoneId))
}
