import { serialOf } from '../../../dns/client/soa'
import { transferZone, type TransferLimits } from '../../../dns/client/transfer'
import type { QueriedServer } from '../../../dns/client/server'
import type { ResourceRecord } from '../../../dns/message'
import { lowerName } from '../../../dns/name'
import { ttlReceived } from '../../../dns/ttl'
import { originOf, withinZone, rrsetKey } from '../zones/names'
import type { ProviderRrset, Snapshot } from './provider'
import { valueKey } from './same-rrset'

/** Created by DNSSEC signing, anywhere in a zone. */
const signingTypes = new Set(['RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM'])
/** Managed by the server at the apex of a signed zone. BIND stores its signing state in TYPE65534. */
const signerKeyTypes = new Set(['DNSKEY', 'CDS', 'CDNSKEY', 'TYPE65534'])

/** A transferred zone. */
export interface Transferred extends Required<Omit<Snapshot, 'foreign' | 'minTtl'>> {
  soa: ResourceRecord
  /** Number of records skipped because they were created by signing. */
  leftOut: number
}

/**
 * Transfers a zone, without records created by signing.
 * @throws QueryFailed
 */
export async function readTransfer(server: QueriedServer, zoneName: string, limits: TransferLimits): Promise<Transferred> {
  const rrsets = new Map<string, ProviderRrset & { keys: Set<string> }>()
  let soa: ResourceRecord | null = null
  let leftOut = 0
  let isSigned = false
  for await (const records of transferZone(server, originOf(zoneName), limits))
    for (const record of records) {
      const { name: owner, type, rdata } = record
      // The first record is the apex SOA; there can't be another one.
      if (type === 'SOA') {
        soa ??= record
        continue
      }
      isSigned ||= type === 'RRSIG'
      if (signingTypes.has(type)) {
        leftOut++
        continue
      }
      const name = withinZone(lowerName(owner), zoneName)!
      const key = rrsetKey({ name, type })
      let rrset = rrsets.get(key)
      if (!rrset) rrsets.set(key, (rrset = { name, type, ttl: ttlReceived(record.ttl), values: [], keys: new Set() }))
      const value = valueKey(type, rdata)
      if (rrset.keys.has(value)) continue
      rrset.keys.add(value)
      rrset.values.push(rdata)
    }
  const published: ProviderRrset[] = []
  for (const { name, type, ttl, values } of rrsets.values()) {
    if (isSigned && name === '@' && signerKeyTypes.has(type)) leftOut += values.length
    else published.push({ name, type, ttl, values })
  }
  return { rrsets: published, serial: serialOf(soa!.rdata), soa: soa!, leftOut }
}
