import { addressesIn, emptyTtl, type Family, type Found } from '../../../core/dns-client/addresses'
import { ask } from '../../../core/dns-client/ask'
import { AskFailed } from '../../../core/dns-client/failure'
import { CLASS, message, RCODE } from '../../../core/dns/message'
import type { Resolver } from '../../../core/net/resolvers'

const timeoutMs = 3000

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
