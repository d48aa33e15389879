import { addressesIn, emptyTtl, type Family } from '../../core/dns-client/addresses'
import { ask } from '../../core/dns-client/ask'
import { DnsFormatError } from '../../core/dns/format-error'
import { AskFailed } from '../../core/dns-client/failure'
import { CLASS, message, RCODE, rcodeName } from '../../core/dns/message'
import type { Resolver } from '../../core/net/resolvers'

/**
 * What resolvers say of a name. `found`: its addresses, none where it has others only; `no_such_name`: NXDOMAIN; both hold for `ttl`
 * seconds. `failed`: they answered, but with an error. `silent`: no one answered.
 */
export type NameAnswer =
  | { kind: 'found'; addresses: string[]; ttl: number }
  | { kind: 'no_such_name'; ttl: number }
  | { kind: 'failed'; rcode: string }
  | { kind: 'silent' }

/** Asks for the addresses of a name without a trailing dot. */
export type AskName = (name: string, family: Family) => Promise<NameAnswer>

// More are not asked, as in resolv.conf(5).
const mostServers = 3
// By UDP that is two tries a second apart, which leaves no time for TCP to one that is silent.
const patienceMs = 2000
const nextAfterMs = 1000

/**
 * Asks the resolvers of a machine: the one that answered last first, and the next when it has failed or said nothing for a second,
 * so that a dead one among several costs a second once.
 */
export function askResolvers(resolvers: () => readonly Resolver[], now: () => number): AskName {
  let preferred = ''
  return async (name, family) => {
    const servers = resolvers()
      .slice(0, mostServers)
      .toSorted((a, b) => Number(keyOf(b) === preferred) - Number(keyOf(a) === preferred))
    let failed: NameAnswer = { kind: 'silent' }
    const asked: Promise<NameAnswer>[] = []
    for (const server of servers) {
      asked.push(
        askOne(server, name, family, now).then(answer => {
          if (answer.kind === 'failed') failed = answer
          if (answer.kind === 'failed' || answer.kind === 'silent') throw new Error(answer.kind)
          preferred = keyOf(server)
          return answer
        }),
      )
      const answer = await within(Promise.any(asked), asked.length < servers.length ? nextAfterMs : patienceMs * 2)
      if (answer) return answer
    }
    return failed
  }
}

/** Null when it comes to nothing, or not in time. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  const late = Promise.withResolvers<null>()
  const timer = setTimeout(() => late.resolve(null), ms)
  try {
    return await Promise.race([promise, late.promise])
  } catch {
    return null
  } finally {
    clearTimeout(timer)
  }
}

async function askOne(at: Resolver, name: string, family: Family, now: () => number): Promise<NameAnswer> {
  const asked = `${name}.`
  const question = message({ id: 0, flags: { rd: true }, question: [{ name: asked, type: family, class: CLASS.IN }] })
  try {
    const answer = await ask({ at, key: null, now }, question, { timeoutMs: patienceMs })
    if (answer.rcode === RCODE.NXDOMAIN) return { kind: 'no_such_name', ttl: emptyTtl }
    if (answer.rcode === RCODE.NOERROR) return { kind: 'found', ...addressesIn(answer, asked, family) }
    return { kind: 'failed', rcode: rcodeName(answer.rcode) }
  } catch (error) {
    if (error instanceof DnsFormatError || (error instanceof AskFailed && error.failure === 'invalid_answer'))
      return { kind: 'failed', rcode: 'with what is no answer' }
    return { kind: 'silent' }
  }
}

const keyOf = ({ address, port }: Resolver): string => `${address} ${port}`
