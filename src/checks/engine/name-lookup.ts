import { addressesIn, emptyTtl, type Family } from '../../dns/client/addresses'
import { queryServer } from '../../dns/client/query-server'
import { DnsFormatError } from '../../dns/format-error'
import { QueryFailed } from '../../dns/client/failure'
import { CLASS, message, RCODE, rcodeName } from '../../dns/message'
import type { Resolver } from '../../core/net/resolvers'

/**
 * Result of resolving a name. `found`: its addresses, possibly none; `not_found`: NXDOMAIN. Both are valid for `ttl` seconds. `failed`:
 * the resolvers responded with an error. `timeout`: none responded.
 */
export type LookupResult =
  | { kind: 'found'; addresses: string[]; ttl: number }
  | { kind: 'not_found'; ttl: number }
  | { kind: 'failed'; rcode: string }
  | { kind: 'timeout' }

/** Resolves a name without a trailing dot. */
export type LookUpName = (name: string, family: Family) => Promise<LookupResult>

// As in resolv.conf(5).
const maxServers = 3
// Over UDP, two attempts a second apart. That leaves no time to try TCP with an unresponsive server.
const resolverTimeoutMs = 2000
const nextAfterMs = 1000

/**
 * Resolves names with the resolvers of a machine. Starts with the one that last responded, and continues with the next after an error or
 * a second of silence, so that an unresponsive resolver costs a second only once.
 */
export function resolverLookup(resolvers: () => readonly Resolver[], now: () => number): LookUpName {
  let preferred = ''
  return async (name, family) => {
    const servers = resolvers()
      .slice(0, maxServers)
      .toSorted((a, b) => Number(keyOf(b) === preferred) - Number(keyOf(a) === preferred))
    let failed: LookupResult = { kind: 'timeout' }
    const queries: Promise<LookupResult>[] = []
    for (const server of servers) {
      queries.push(
        queryResolver(server, name, family, now).then(answer => {
          if (answer.kind === 'failed') failed = answer
          if (answer.kind === 'failed' || answer.kind === 'timeout') throw new Error(answer.kind)
          preferred = keyOf(server)
          return answer
        }),
      )
      const answer = await within(Promise.any(queries), queries.length < servers.length ? nextAfterMs : resolverTimeoutMs * 2)
      if (answer) return answer
    }
    return failed
  }
}

/** Null if the promise rejects or takes too long. */
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

async function queryResolver(at: Resolver, name: string, family: Family, now: () => number): Promise<LookupResult> {
  const absoluteName = `${name}.`
  const question = message({ id: 0, flags: { rd: true }, question: [{ name: absoluteName, type: family, class: CLASS.IN }] })
  try {
    const answer = await queryServer({ at, key: null, now }, question, { timeoutMs: resolverTimeoutMs })
    if (answer.rcode === RCODE.NXDOMAIN) return { kind: 'not_found', ttl: emptyTtl }
    if (answer.rcode === RCODE.NOERROR) return { kind: 'found', ...addressesIn(answer, absoluteName, family) }
    return { kind: 'failed', rcode: rcodeName(answer.rcode) }
  } catch (error) {
    if (error instanceof DnsFormatError || (error instanceof QueryFailed && error.failure === 'invalid_response'))
      return { kind: 'failed', rcode: 'an invalid response' }
    return { kind: 'timeout' }
  }
}

const keyOf = ({ address, port }: Resolver): string => `${address} ${port}`
