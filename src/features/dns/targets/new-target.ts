import { and, eq, gt, inArray, sql } from 'drizzle-orm'
import { forShare } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { newId } from '../../../core/ids'
import { conflict, invalid, Problem } from '../../../core/problem'
import { dnsProviders } from '../accounts/tables'
import { dnsRrsets } from '../records/tables'
import { dnsZones } from '../zones/tables'
import type { ZoneRow } from '../zones/rows'
import { markUnknown } from './mark-pending'
import { dnsZoneTargets } from './tables'
import type { TargetRow } from './target-rows'
import { updateZoneSyncState, zoneSyncState } from './zone-sync-state'

/** Columns of a target that was never read. */
const neverRead = {
  remoteRef: null,
  state: 'unknown',
  lastReadAt: null,
  lastGoodCount: null,
  lastSyncAt: null,
  observedHash: null,
  remoteSerial: null,
  minTtl: null,
  error: null,
  isStale: false,
  consecutiveFailures: 0,
  failureNotified: false,
  blockedFor: null,
  throttledUntil: 0,
  claim: null,
  claimedUntil: 0,
} as const satisfies Partial<TargetRow>

/** Resets the targets at a provider that now points elsewhere, so that the next sync is their first. Ends syncs in progress. */
export async function resetTargets(tx: Tx, providerId: string, now: number): Promise<void> {
  await tx
    .update(dnsZoneTargets)
    .set({ ...neverRead, nextPollAt: now })
    .where(eq(dnsZoneTargets.providerId, providerId))
  const ids = tx.select({ id: dnsZoneTargets.zoneId }).from(dnsZoneTargets).where(eq(dnsZoneTargets.providerId, providerId))
  await tx
    .update(dnsZones)
    .set(zoneSyncState([neverRead]))
    .where(and(inArray(dnsZones.id, ids), eq(dnsZones.targetCount, 1)))
  const others = await tx
    .select({ id: dnsZones.id })
    .from(dnsZones)
    .where(and(inArray(dnsZones.id, ids), gt(dnsZones.targetCount, 1)))
  for (const { id } of others) await updateZoneSyncState(tx, id)
}

/** Maximum number of targets of a zone. */
const maxTargets = 10

export const providerNotFound = () =>
  invalid([{ pointer: '#/provider_id', code: 'not_found', detail: 'must be a DNS provider of this workspace.' }])

/**
 * Adds a sync target to a zone. It is read immediately; existing records there are left unchanged.
 * @throws Problem 422 for an unknown provider, 409 for a duplicate or too many
 */
export async function addTarget(tx: Tx, hub: Hub, zone: ZoneRow, providerId: string): Promise<TargetRow> {
  const [provider] = await forShare(
    tx
      .select({ id: dnsProviders.id })
      .from(dnsProviders)
      .where(and(eq(dnsProviders.id, providerId), eq(dnsProviders.workspaceId, zone.workspaceId))),
  )
  if (!provider) throw providerNotFound()
  if (zone.targetCount >= maxTargets) throw conflict(`A zone can have at most ${maxTargets} sync targets.`)
  const now = hub.clock.now()
  const [row] = await tx
    .insert(dnsZoneTargets)
    .values({
      id: newId('ztgt'),
      zoneId: zone.id,
      workspaceId: zone.workspaceId,
      providerId,
      enabled: true,
      ...neverRead,
      nextPollAt: now,
      enforcedSince: 0,
      enforcedRuns: 0,
      createdAt: now,
    })
    .onConflictDoNothing()
    .returning()
  if (!row) throw new Problem('already_exists', 'The zone already has this provider as a sync target.')
  await tx
    .update(dnsZones)
    .set({ targetCount: sql`${dnsZones.targetCount} + 1` })
    .where(eq(dnsZones.id, zone.id))
  const rrsets = await tx
    .select({ name: dnsRrsets.name, type: dnsRrsets.type })
    .from(dnsRrsets)
    .where(eq(dnsRrsets.zoneId, zone.id))
  await markUnknown(tx, zone, row.id, rrsets, now)
  return row
}
