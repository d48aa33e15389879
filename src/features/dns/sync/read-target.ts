import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'
import { eq, and } from 'drizzle-orm'
import { openProvider } from '../accounts/open'
import { ProviderError, type DnsProvider, type ProviderZone, type Snapshot } from '../providers/provider'
import { dnsRecords } from '../records/tables'
import { claimMs, confirmClaim, type ClaimedTarget } from '../targets/claim-target'
import { dnsZoneTargets } from '../targets/tables'

/** An opened provider, and the zone as it knows it. */
export interface OpenedTarget {
  provider: DnsProvider
  at: ProviderZone
  /** The zone was created for this sync: its records are the provider's defaults. */
  isNew: boolean
}

/**
 * Opens the provider of a target and finds the zone there. Creates the zone before the first sync if the provider can.
 * @throws ProviderError, ClaimLost
 */
export async function openTarget(
  hub: Hub,
  claimed: ClaimedTarget,
  { mayCreate, isInteractive }: { mayCreate: boolean; isInteractive: boolean },
): Promise<OpenedTarget> {
  const { target, zone, provider: row } = claimed
  const provider = await openProvider(hub, row, isInteractive)
  if (target.lastReadAt !== null) return { provider, at: { name: zone.name, ref: target.remoteRef }, isNew: false }
  // An earlier run created the zone but could not read it.
  if (target.remoteRef !== null) return { provider, at: { name: zone.name, ref: target.remoteRef }, isNew: true }
  const found = await provider.findZone(zone.name)
  if (found) return { provider, at: found, isNew: false }
  if (!mayCreate || !provider.createZone)
    throw new ProviderError(
      'zone_not_found',
      `The provider has no zone ${zone.name}${provider.createZone ? '' : ', and doesn’t support creating zones'}.`,
    )
  const createdZone = await provider.createZone(zone.name, await nameServersOf(hub, zone.id))
  await record(hub, async tx => {
    await confirmClaim(tx, claimed, hub.clock.now() + claimMs)
    await tx.update(dnsZoneTargets).set({ remoteRef: createdZone.ref }).where(eq(dnsZoneTargets.id, target.id))
    return { result: undefined }
  })
  return { provider, at: createdZone, isNew: true }
}

/**
 * Reads the zone at a target; returns null if its serial shows that nothing changed.
 * @param knownSerial serial of the last read; null to read in any case
 * @throws ProviderError
 */
export async function readOpened({ provider, at }: OpenedTarget, knownSerial: number | null): Promise<Snapshot | null> {
  if (knownSerial !== null && provider.readSerial && (await provider.readSerial(at)) === knownSerial) return null
  return await provider.read(at)
}

async function nameServersOf(hub: Hub, zoneId: string): Promise<string[]> {
  const rows = await hub.read
    .select({ target: dnsRecords.target })
    .from(dnsRecords)
    .where(and(eq(dnsRecords.zoneId, zoneId), eq(dnsRecords.name, '@'), eq(dnsRecords.type, 'NS')))
  return rows.flatMap(row => row.target ?? [])
}
