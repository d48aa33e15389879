import { readZoneFile } from '../../src/dns/zone-file'
import type { ProviderRrset } from '../../src/features/dns/providers/provider'
import { originOf, withinZone } from '../../src/features/dns/zones/names'

/** The rrsets of a zone without the SOA. @param text zone file or `dig` output */
export function rrsetsOfText(text: string, zone: string): ProviderRrset[] {
  const rrsets = new Map<string, ProviderRrset>()
  for (const { name, type, ttl, rdata } of readZoneFile(text, { origin: originOf(zone), defaultTtl: null })) {
    if (type === 'SOA') continue
    const below = withinZone(name.toLowerCase(), zone)!
    const known = rrsets.get(`${below} ${type}`)
    if (known) known.values.push(rdata)
    else rrsets.set(`${below} ${type}`, { name: below, type, ttl, values: [rdata] })
  }
  return [...rrsets.values()]
}
