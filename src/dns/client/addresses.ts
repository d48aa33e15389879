import { CLASS, type Message } from '../message'
import { sameName } from '../name'
import { fieldsOf, textOf } from '../rdata'

export type Family = 'A' | 'AAAA'

/** Addresses of a name, possibly none. */
export interface Found {
  addresses: string[]
  /** Seconds: the smallest TTL of the CNAME chain and the addresses, or how long an empty result is valid. */
  ttl: number
}

// Keeps an rrset of them small enough for UDP responses.
const maxAddresses = 64
const maxChain = 16
/** Seconds for which an empty result is valid. */
export const emptyTtl = 60

/**
 * Extracts the addresses of a name from a response, following CNAMEs. Ignores other records.
 * @param queriedName absolute
 * @throws DnsFormatError for an invalid record
 */
export function addressesIn({ answer }: Message, queriedName: string, type: Family): Found {
  let ttl = Infinity
  let name = queriedName
  for (let step = 0; step < maxChain; step++) {
    const own = answer.filter(record => record.class === CLASS.IN && sameName(record.name, name))
    const records = own.filter(record => record.type === type)
    if (records.length > 0) {
      const addresses = new Set(records.slice(0, maxAddresses).map(record => textOf(type, record.rdata)))
      return { addresses: [...addresses].sort(), ttl: Math.min(ttl, ...records.map(record => record.ttl)) }
    }
    const [cname] = own.filter(record => record.type === 'CNAME')
    if (!cname) break
    ttl = Math.min(ttl, cname.ttl)
    name = fieldsOf('CNAME', cname.rdata).target as string
  }
  return { addresses: [], ttl: emptyTtl }
}
