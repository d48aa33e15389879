import { ask } from '../../../core/dns-client/ask'
import { AskFailed } from '../../../core/dns-client/failure'
import { CLASS, message, RCODE, type Message } from '../../../core/dns/message'
import { sameName } from '../../../core/dns/name'
import { fieldsOf, textOf } from '../../../core/dns/rdata'
import type { Resolver } from '../../../core/net/resolvers'

export type Family = 'A' | 'AAAA'

/** Addresses of a name; none is an answer too. */
export interface Found {
  addresses: string[]
  /** Seconds: the smallest on the way to them, and what an answer without any is good for. */
  ttl: number
}

// The rrset that is made of them has to fit answers by UDP, more or less.
const mostAddresses = 64
const timeoutMs = 3000
const emptyTtl = 60
const longestChain = 16

/**
 * The addresses of a name, asked of resolvers one after the other until one knows.
 * @param name absolute
 * @returns null when none of them could tell: that says nothing of the name
 */
export async function lookUp(
  resolvers: readonly Resolver[],
  name: string,
  type: Family,
  now: () => number,
): Promise<Found | null> {
  for (const at of resolvers) {
    try {
      const question = message({ id: 0, flags: { rd: true }, question: [{ name, type, class: CLASS.IN }] })
      const answer = await ask({ at, key: null, now }, question, { timeoutMs })
      if (answer.rcode === RCODE.NOERROR) return addressesIn(answer, name, type)
      if (answer.rcode === RCODE.NXDOMAIN) return { addresses: [], ttl: emptyTtl }
    } catch (error) {
      if (!(error instanceof AskFailed)) throw error
    }
  }
  return null
}

/** Addresses that an answer leads to from a name, over its CNAMEs; what else is in it is not looked at. */
function addressesIn({ answer }: Message, asked: string, type: Family): Found {
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
