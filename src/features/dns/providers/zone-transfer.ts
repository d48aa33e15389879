import { serialOf } from '../../../core/dns-client/soa'
import { transferZone, type TransferLimits } from '../../../core/dns-client/transfer'
import type { NameServerAsked } from '../../../core/dns-client/server'
import { lowerName } from '../../../core/dns/name'
import { originOf, withinZone } from '../zone-names'
import type { ProviderRrset, Snapshot } from './provider'
import { stepKey, valueKey } from './same-rrset'

/** Made by whoever signs a zone, wherever they stand. */
const madeBySigning = new Set(['RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM'])
/** At the apex of a signed zone the server's own. TYPE65534 is where BIND keeps how far it is with signing. */
const keysOfSigner = new Set(['DNSKEY', 'CDS', 'CDNSKEY', 'TYPE65534'])

/**
 * All of a zone but its SOA and what signing made.
 * @throws AskFailed
 */
export async function readTransfer(
  server: NameServerAsked,
  zoneName: string,
  limits: TransferLimits,
): Promise<Required<Snapshot>> {
  const rrsets = new Map<string, ProviderRrset & { keys: Set<string> }>()
  let serial: number | null = null
  let isSigned = false
  for await (const records of transferZone(server, originOf(zoneName), limits))
    for (const { name: owner, type, ttl, rdata } of records) {
      // The first is the SOA of the apex; below it none can be.
      if (type === 'SOA') {
        serial ??= serialOf(rdata)
        continue
      }
      isSigned ||= type === 'RRSIG'
      if (madeBySigning.has(type)) continue
      const name = withinZone(lowerName(owner), zoneName)!
      const key = stepKey({ name, type })
      let rrset = rrsets.get(key)
      if (!rrset) rrsets.set(key, (rrset = { name, type, ttl, values: [], keys: new Set() }))
      const value = valueKey(type, rdata)
      if (rrset.keys.has(value)) continue
      rrset.keys.add(value)
      rrset.values.push(rdata)
    }
  const kept = [...rrsets.values()].filter(one => !(isSigned && one.name === '@' && keysOfSigner.has(one.type)))
  return { rrsets: kept.map(({ name, type, ttl, values }) => ({ name, type, ttl, values })), serial: serial! }
}
