import { addressesIn, type Family } from '../../dns/client/addresses'
import { DnsFormatError } from '../../dns/format-error'
import { CLASS, message, rcodeName } from '../../dns/message'
import { parseName, toAscii } from '../../dns/name'
import { UDP_SIZE } from '../../dns/edns'
import { parseAddress } from '../../core/net/address'
import { withAttempt, type Attempt } from '../attempt'
import type { CheckErrorKind } from '../check'
import { CheckFailed, connectFailure } from '../connect-failure'
import { queryServers, type DnsQueryOptions } from '../dns/transports'
import { parseServer } from '../dns/server'
import { bareHost } from '../host-port'

type Transport = NonNullable<DnsQueryOptions['transport']>

/** Schemes of a resolver and their transports. Without a scheme: UDP, with TCP for truncated responses. */
const schemes: readonly (readonly [begin: string, transport: Transport])[] = [
  ['https://', 'doh'],
  ['tls://', 'dot'],
  ['tcp://', 'tcp'],
  ['udp://', 'udp'],
]

/** Splits a resolver into its transport and server. */
export function parseResolver(text: string): { transport: Transport; resolver: string } {
  const [begin = '', transport = 'udp'] = schemes.find(([one]) => text.toLowerCase().startsWith(one)) ?? []
  // For DNS over HTTPS the resolver is the whole URL (RFC 8484 section 3).
  return { transport, resolver: transport === 'doh' ? text : text.slice(begin.length) }
}

/** @throws InvalidCheckInput if the resolver is invalid */
export function validateResolver(text: string): void {
  parseServer(parseResolver(text))
}

/**
 * Resolves a host with the resolver that the monitor configures, and returns the first address; a host that is an IP address is returned
 * as is. Nothing is cached. Records `dns`.
 * @param host of a URL
 * @throws CheckFailed with a message that names the resolver
 */
export async function resolveHost(
  attempt: Attempt,
  resolver: string,
  host: string,
  options: Pick<DnsQueryOptions, 'ca' | 'ip_family'>,
): Promise<string> {
  const bare = bareHost(host)
  if (parseAddress(bare)) return bare
  const startedAt = attempt.context.now()
  const families: Family[] = options.ip_family ? [options.ip_family === 6 ? 'AAAA' : 'A'] : ['A', 'AAAA']
  try {
    for (const family of families) {
      const address = await withAttempt(attempt.context, lookup => queryAddress(lookup, resolver, bare, family, options.ca))
      if (address !== undefined) return address
    }
  } catch (error) {
    if (error instanceof DnsFormatError)
      throw new CheckFailed('dns', 'resolver: the host is not a valid DNS name, or the response could not be parsed')
    const { kind, message: text } = connectFailure(error, 'established')
    throw new CheckFailed(specificKinds.has(kind) ? kind : 'dns', `resolver: ${text}`)
  } finally {
    attempt.addToPhase('dns', startedAt)
  }
  throw new CheckFailed('dns', `resolver: the host has no ${options.ip_family ? `IPv${options.ip_family} ` : ''}address`)
}

/** Kinds that are more specific than `dns`. */
const specificKinds: ReadonlySet<CheckErrorKind> = new Set<CheckErrorKind>(['timeout', 'blocked_address', 'internal'])

async function queryAddress(
  attempt: Attempt,
  resolver: string,
  host: string,
  family: Family,
  ca: string | undefined,
): Promise<string | undefined> {
  const { transport, resolver: server } = parseResolver(resolver)
  const name = parseName(`${toAscii(host).replace(/\.$/, '')}.`, null)
  const question = { name, type: family, class: CLASS.IN }
  const edns = { udpSize: UDP_SIZE, version: 0, dnssec: false, options: [] }
  const query = message({ id: 0, flags: { rd: true }, question: [question], edns })
  const answer = await queryServers(attempt, query, parseServer({ resolver: server, transport }), {
    transport,
    ...(ca !== undefined && { ca }),
  })
  const rcode = rcodeName(answer.rcode)
  if (rcode === 'NXDOMAIN') throw new CheckFailed('dns', 'the hostname does not exist (NXDOMAIN)')
  if (rcode !== 'NOERROR') throw new CheckFailed('dns', `server responded with ${rcode}`)
  return addressesIn(answer, name, family).addresses[0]
}
