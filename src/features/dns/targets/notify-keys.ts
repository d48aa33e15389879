import { eq } from 'drizzle-orm'
import { lowerName } from '../../../dns/name'
import type { TsigKey } from '../../../dns/tsig'
import type { Hub } from '../../../core/hub'
import { openAccountSettings } from '../../../adapters/accounts/accounts'
import { providerAccounts } from '../accounts/open'
import { dnsProviders } from '../accounts/tables'
import { providerKindOf } from '../providers'
import { dnsZones } from '../zones/tables'
import { dnsZoneTargets } from './tables'

/**
 * TSIG keys with this name that are shared with the providers of a zone. Providers name their keys independently, so there may
 * be several.
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
    if (kind?.notifyKeys) keys.push(...kind.notifyKeys(await openAccountSettings(hub, providerAccounts, provider)))
  }
  return keys.filter(key => lowerName(key.name) === lowerName(keyName))
}
