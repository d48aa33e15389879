import { and, eq, gt, inArray, sql } from 'drizzle-orm'
import { keeping } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { newId } from '../../../core/ids'
import { conflict, invalid, Problem } from '../../../core/problem'
import { dnsProviders } from '../accounts/tables'
import { dnsRrsets, dnsZones } from '../tables'
import type { ZoneRow } from '../zone-rows'
import { markUnknown } from './mark-pending'
import { dnsZoneTargets } from './tables'
import type { TargetRow } from './target-rows'
import { keepStanding, standingAt } from './zone-standing'

/** What is known of a target that was never read. */
export const unread = {
  remoteRef: null,
  state: 'unknown',
  lastReadAt: null,
  lastGoodCount: null,
  lastSyncAt: null,
  observedHash: null,
  remoteSerial: null,
  error: null,
  isStale: false,
  failuresInARow: 0,
  failingTold: false,
  blockedFor: null,
  restsUntil: 0,
  claim: null,
  claimedUntil: 0,
} as const satisfies Partial<TargetRow>

/** Has the targets at a provider read as if for the first time, since it is another place by now. Runs that are under way end. */
export async function readAsNew(tx: Tx, providerId: string, now: number): Promise<void> {
  await tx
    .update(dnsZoneTargets)
    .set({ ...unread, nextPollAt: now })
    .where(eq(dnsZoneTargets.providerId, providerId))
  const ids = tx.select({ id: dnsZoneTargets.zoneId }).from(dnsZoneTargets).where(eq(dnsZoneTargets.providerId, providerId))
  await tx
    .update(dnsZones)
    .set(standingAt([unread]))
    .where(and(inArray(dnsZones.id, ids), eq(dnsZones.targetCount, 1)))
  const others = await tx
    .select({ id: dnsZones.id })
    .from(dnsZones)
    .where(and(inArray(dnsZones.id, ids), gt(dnsZones.targetCount, 1)))
  for (const { id } of others) await keepStanding(tx, id)
}

/** Targets that a zone may have. */
export const mostTargets = 10

export const noProvider = () =>
  invalid([{ pointer: '#/provider_id', code: 'not_found', detail: 'must be a DNS provider of this workspace.' }])

/**
 * Adds a provider to those that a zone is kept at. It is read at once, and what is there is left alone.
 * @throws Problem 422 for a provider that is not there, 409 for one that the zone has, and for too many
 */
export async function addTarget(tx: Tx, hub: Hub, zone: ZoneRow, providerId: string): Promise<TargetRow> {
  const [provider] = await keeping(
    tx
      .select({ id: dnsProviders.id })
      .from(dnsProviders)
      .where(and(eq(dnsProviders.id, providerId), eq(dnsProviders.workspaceId, zone.workspaceId))),
  )
  if (!provider) throw noProvider()
  if (zone.targetCount >= mostTargets) throw conflict(`A zone has ${mostTargets} targets at most.`)
  const now = hub.clock.now()
  const [row] = await tx
    .insert(dnsZoneTargets)
    .values({
      id: newId('ztgt'),
      zoneId: zone.id,
      workspaceId: zone.workspaceId,
      providerId,
      enabled: true,
      ...unread,
      nextPollAt: now,
      enforcedSince: 0,
      enforcedRuns: 0,
      createdAt: now,
    })
    .onConflictDoNothing()
    .returning()
  if (!row) throw new Problem('already_exists', 'The zone is kept at this provider already.')
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
