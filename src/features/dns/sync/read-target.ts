import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'
import { eq, and } from 'drizzle-orm'
import { openProvider } from '../accounts/open'
import { ProviderError, type DnsProvider, type ProviderZone, type Snapshot } from '../providers/provider'
import { dnsRecords } from '../tables'
import { claimMs, holdClaim, type Claimed } from './claim-target'
import { dnsZoneTargets } from './tables'

/** A target that can be asked, and the zone as the provider knows it. */
export interface Opened {
  provider: DnsProvider
  at: ProviderZone
  /** It was made for this: what is there is what the provider begins zones with. */
  isNew: boolean
}

/**
 * Opens the provider of a target and finds the zone there. One that was never read, and is not there, is made where the provider can.
 * @throws ProviderError, ClaimLost
 */
export async function openTarget(hub: Hub, claimed: Claimed, mayCreate: boolean): Promise<Opened> {
  const { target, zone, provider: row } = claimed
  const provider = await openProvider(hub, row)
  if (target.lastReadAt !== null) return { provider, at: { name: zone.name, ref: target.remoteRef }, isNew: false }
  // It was made, and could not be read then.
  if (target.remoteRef !== null) return { provider, at: { name: zone.name, ref: target.remoteRef }, isNew: true }
  const found = await provider.findZone(zone.name)
  if (found) return { provider, at: found, isNew: false }
  if (!mayCreate || !provider.createZone)
    throw new ProviderError(
      'zone_not_found',
      `The provider has no zone ${zone.name}${provider.createZone ? '' : ', and cannot be asked to make it'}.`,
    )
  const made = await provider.createZone(zone.name, await nameServersOf(hub, zone.id))
  await record(hub, async tx => {
    await holdClaim(tx, claimed, hub.clock.now() + claimMs)
    await tx.update(dnsZoneTargets).set({ remoteRef: made.ref }).where(eq(dnsZoneTargets.id, target.id))
    return { result: undefined }
  })
  return { provider, at: made, isNew: true }
}

/**
 * Everything at the target; null where its serial tells that nothing has changed.
 * @param knownSerial that of the last reading, where nothing is to be brought there; else null
 * @throws ProviderError
 */
export async function readOpened({ provider, at }: Opened, knownSerial: number | null): Promise<Snapshot | null> {
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
