import { addressesIn, emptyTtl, type Family, type Found } from '../../../dns/client/addresses'
import { queryServer } from '../../../dns/client/query-server'
import { QueryFailed } from '../../../dns/client/failure'
import { CLASS, message, RCODE } from '../../../dns/message'
import type { Resolver } from '../../../core/net/resolvers'

const timeoutMs = 3000

/**
 * Resolves the addresses of a name. Tries resolvers in order until one responds.
 * @param name absolute
 * @returns null if all of them failed, which says nothing about the name
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
      const answer = await queryServer({ at, key: null, now }, question, { timeoutMs })
      if (answer.rcode === RCODE.NOERROR) return addressesIn(answer, name, type)
      if (answer.rcode === RCODE.NXDOMAIN) return { addresses: [], ttl: emptyTtl }
    } catch (error) {
      if (!(error instanceof QueryFailed)) throw error
    }
  }
  return null
}
