import { eq } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import type { JobDraft } from '../../../core/jobs/queue'
import { rowsAtOnce, rrsetKey, type ZoneRow } from '../zone-rows'
import { dropFound } from './found-records'
import { syncJobFor } from './sync-jobs'
import { dnsTargetRrsets, dnsZoneTargets } from './tables'
import { showStates, targetsOf } from './target-rows'
import { keepStanding } from './zone-standing'

/**
 * Notes, in the transaction of a change, that rrsets of a zone are to be brought to its targets.
 * @returns the job that does so, unless that is left to people
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
    await dropFound(tx, target.id, rrsets.map(rrsetKey))
    if (target.state === 'synced' || target.state === 'ignored' || target.state === 'unknown')
      await tx.update(dnsZoneTargets).set({ state: 'pending' }).where(eq(dnsZoneTargets.id, target.id))
  }
  await keepStanding(tx, zone.id)
  await showStates(tx, zone, rrsets)
  return zone.apply === 'auto' ? [syncJobFor(zone.id)] : []
}

/** Notes that nothing is known of rrsets at a target that was just added. */
export async function markUnknown(
  tx: Tx,
  zone: ZoneRow,
  targetId: string,
  rrsets: readonly { name: string; type: string }[],
  now: number,
): Promise<void> {
  await write(tx, zone, targetId, rrsets, 'unknown', now)
  await keepStanding(tx, zone.id)
  await showStates(tx, zone, rrsets)
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
  const stands = { state, kind: null, detail: null, since: now }
  for (let at = 0; at < rrsets.length; at += rowsAtOnce) {
    await tx
      .insert(dnsTargetRrsets)
      .values(rrsets.slice(at, at + rowsAtOnce).map(one => ({ targetId, zoneId: zone.id, ...one, ...nothing, ...stands })))
      .onConflictDoUpdate({ target: [dnsTargetRrsets.targetId, dnsTargetRrsets.name, dnsTargetRrsets.type], set: stands })
  }
}

/** Forgets what was known of a target, for one that is removed: its rrsets count no more. */
export async function unmark(tx: Tx, zone: ZoneRow, targetId: string): Promise<void> {
  const rows = await tx
    .select({ name: dnsTargetRrsets.name, type: dnsTargetRrsets.type })
    .from(dnsTargetRrsets)
    .where(eq(dnsTargetRrsets.targetId, targetId))
  await tx.delete(dnsZoneTargets).where(eq(dnsZoneTargets.id, targetId))
  await keepStanding(tx, zone.id)
  await showStates(tx, zone, rows)
}

/** Has the targets of a zone read whatever their serials say, since they are to be looked at by other rules. */
export async function readAnew(tx: Tx, zoneId: string): Promise<void> {
  await tx.update(dnsZoneTargets).set({ remoteSerial: null }).where(eq(dnsZoneTargets.zoneId, zoneId))
}
