import { CLASS, type Message } from '../dns/message'
import { sameName } from '../dns/name'
import { fieldsOf, textOf } from '../dns/rdata'

export type Family = 'A' | 'AAAA'

/** Addresses of a name; none is an answer too. */
export interface Found {
  addresses: string[]
  /** Seconds: the smallest on the way to them, and what an answer without any is good for. */
  ttl: number
}

// What uses them is sized by it: an rrset that is made of them has to fit answers by UDP, more or less.
const mostAddresses = 64
const longestChain = 16
/** Seconds that an answer without addresses is good for. */
export const emptyTtl = 60

/**
 * Addresses that an answer leads to from a name, over its CNAMEs; what else is in it is not looked at.
 * @param asked absolute
 * @throws DnsFormatError for a record that cannot be read
 */
export function addressesIn({ answer }: Message, asked: string, type: Family): Found {
  let ttl = Infinity
  let name = asked
  for (let step = 0; step < longestChain; step++) {
    const own = answer.filter(record => record.class === CLASS.IN && sameName(record.name, name))
    const records = own.filter(record => record.type === type)
    if (records.length > 0) {
      const addresses = new Set(records.slice(0, mostAddresses).map(record => textOf(type, record.rdata)))
      return { addresses: [...addresses].sort(), ttl: Math.min(ttl, ...records.map(record => record.ttl)) }
    }
    const [cname] = own.filter(record => record.type === 'CNAME')
    if (!cname) break
    ttl = Math.min(ttl, cname.ttl)
    name = fieldsOf('CNAME', cname.rdata).target as string
  }
  return { addresses: [], ttl: emptyTtl }
}
