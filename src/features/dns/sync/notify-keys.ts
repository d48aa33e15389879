import { eq } from 'drizzle-orm'
import { lowerName } from '../../../core/dns/name'
import type { TsigKey } from '../../../core/dns/tsig'
import type { Hub } from '../../../core/hub'
import { openProviderSettings } from '../accounts/settings'
import { dnsProviders } from '../accounts/tables'
import { providerKindOf } from '../providers'
import { dnsZones } from '../tables'
import { dnsZoneTargets } from './tables'

/**
 * Keys of a name that the hub has in common with the servers at which a zone is kept. Each installation elsewhere names its keys as it
 * likes, so there may be several.
 * @param zoneName absolute
 * @param keyName absolute
 */
export async function notifyKeysOf(hub: Hub, zoneName: string, keyName: string): Promise<TsigKey[]> {
  const rows = await hub.read
    .select({ provider: dnsProviders })
    .from(dnsZones)
    .innerJoin(dnsZoneTargets, eq(dnsZoneTargets.zoneId, dnsZones.id))
    .innerJoin(dnsProviders, eq(dnsProviders.id, dnsZoneTargets.providerId))
    .where(eq(dnsZones.name, lowerName(zoneName).replace(/\.$/, '')))
  const keys: TsigKey[] = []
  for (const { provider } of rows) {
    const kind = providerKindOf(provider.kind)
    if (kind?.notifyKeys) keys.push(...kind.notifyKeys(await openProviderSettings(hub, provider)))
  }
  return keys.filter(key => lowerName(key.name) === lowerName(keyName))
}
