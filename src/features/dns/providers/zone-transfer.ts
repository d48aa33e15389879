import { serialOf } from '../../../core/dns-client/soa'
import { transferZone, type TransferLimits } from '../../../core/dns-client/transfer'
import type { NameServerAsked } from '../../../core/dns-client/server'
import type { ResourceRecord } from '../../../core/dns/message'
import { lowerName } from '../../../core/dns/name'
import { ttlReceived } from '../../../core/dns/ttl'
import { originOf, withinZone } from '../zone-names'
import type { ProviderRrset, Snapshot } from './provider'
import { stepKey, valueKey } from './same-rrset'

/** Made by whoever signs a zone, wherever they stand. */
const madeBySigning = new Set(['RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM'])
/** At the apex of a signed zone the server's own. TYPE65534 is where BIND keeps how far it is with signing. */
const keysOfSigner = new Set(['DNSKEY', 'CDS', 'CDNSKEY', 'TYPE65534'])

/** A zone as a server transfers it. */
export interface Transferred extends Required<Snapshot> {
  soa: ResourceRecord
  /** Records that were left out, since signing made them. */
  leftOut: number
}

/**
 * All of a zone but what signing made.
 * @throws AskFailed
 */
export async function readTransfer(server: NameServerAsked, zoneName: string, limits: TransferLimits): Promise<Transferred> {
  const rrsets = new Map<string, ProviderRrset & { keys: Set<string> }>()
  let soa: ResourceRecord | null = null
  let leftOut = 0
  let isSigned = false
  for await (const records of transferZone(server, originOf(zoneName), limits))
    for (const record of records) {
      const { name: owner, type, rdata } = record
      // The first is the SOA of the apex; below it none can be.
      if (type === 'SOA') {
        soa ??= record
        continue
      }
      isSigned ||= type === 'RRSIG'
      if (madeBySigning.has(type)) {
        leftOut++
        continue
      }
      const name = withinZone(lowerName(owner), zoneName)!
      const key = stepKey({ name, type })
      let rrset = rrsets.get(key)
      if (!rrset) rrsets.set(key, (rrset = { name, type, ttl: ttlReceived(record.ttl), values: [], keys: new Set() }))
      const value = valueKey(type, rdata)
      if (rrset.keys.has(value)) continue
      rrset.keys.add(value)
      rrset.values.push(rdata)
    }
  const kept: ProviderRrset[] = []
  for (const { name, type, ttl, values } of rrsets.values()) {
    if (isSigned && name === '@' && keysOfSigner.has(type)) leftOut += values.length
    else kept.push({ name, type, ttl, values })
  }
  return { rrsets: kept, serial: serialOf(soa!.rdata), soa: soa!, leftOut }
}
