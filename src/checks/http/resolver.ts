import { addressesIn, type Family } from '../../core/dns-client/addresses'
import { CLASS, message, rcodeName } from '../../core/dns/message'
import { parseName, toAscii } from '../../core/dns/name'
import { UDP_SIZE } from '../../core/dns/edns'
import { parseAddress } from '../../core/net/address'
import { withAttempt, type Attempt } from '../attempt'
import type { CheckErrorKind } from '../check'
import { CheckFailed, connectFailure } from '../connect-failure'
import { askOver, type DnsWish } from '../dns/over'
import { serverOf } from '../dns/server'

type Transport = NonNullable<DnsWish['transport']>

/** How a resolver is written down, and what carries the questions to it then; over UDP with TCP for answers that do not fit. */
const schemes: readonly (readonly [begin: string, transport: Transport])[] = [
  ['https://', 'doh'],
  ['tls://', 'dot'],
  ['tcp://', 'tcp'],
  ['udp://', 'udp'],
]

function written(text: string): { transport: Transport; resolver: string } {
  const [begin = '', transport = 'udp'] = schemes.find(([one]) => text.toLowerCase().startsWith(one)) ?? []
  // Of DNS over HTTPS the whole URL is asked (RFC 8484 section 3).
  return { transport, resolver: transport === 'doh' ? text : text.slice(begin.length) }
}

/** @throws CheckInputRefused where a resolver cannot be read */
export function refuseResolver(text: string): void {
  serverOf(written(text))
}

/**
 * The first address of a host, by the resolver that a monitor names in place of those of this machine; a host that is an address is
 * its own. Nothing of it is remembered. Writes `dns`.
 * @param host of a URL
 * @throws CheckFailed that says it was the resolver
 */
export async function addressBy(
  one: Attempt,
  resolver: string,
  host: string,
  wish: Pick<DnsWish, 'ca' | 'ip_family'>,
): Promise<string> {
  const bare = host.replace(/^\[|\]$/g, '')
  if (parseAddress(bare)) return bare
  const began = one.around.now()
  const families: Family[] = wish.ip_family ? [wish.ip_family === 6 ? 'AAAA' : 'A'] : ['A', 'AAAA']
  try {
    for (const family of families) {
      const address = await withAttempt(one.around, apart => asked(apart, resolver, bare, family, wish.ca))
      if (address !== undefined) return address
    }
  } catch (error) {
    const { kind, message: text } = connectFailure(error, 'talking')
    throw new CheckFailed(told.has(kind) ? kind : 'dns', `resolver: ${text}`)
  } finally {
    one.spent('dns', began)
  }
  throw new CheckFailed('dns', `resolver: the host has no ${wish.ip_family ? `IPv${wish.ip_family} ` : ''}address`)
}

/** Kinds that say more than that the name was not found. */
const told: ReadonlySet<CheckErrorKind> = new Set<CheckErrorKind>(['timeout', 'blocked_address', 'internal'])

async function asked(
  one: Attempt,
  resolver: string,
  host: string,
  family: Family,
  ca: string | undefined,
): Promise<string | undefined> {
  const { transport, resolver: server } = written(resolver)
  const name = parseName(`${toAscii(host).replace(/\.$/, '')}.`, null)
  const question = { name, type: family, class: CLASS.IN }
  const edns = { udpSize: UDP_SIZE, version: 0, dnssec: false, options: [] }
  const query = message({ id: 0, flags: { rd: true }, question: [question], edns })
  const answer = await askOver(one, query, serverOf({ resolver: server, transport }), {
    transport,
    ...(ca !== undefined && { ca }),
  })
  const rcode = rcodeName(answer.rcode)
  if (rcode === 'NXDOMAIN') throw new CheckFailed('dns', 'the host name does not exist (NXDOMAIN)')
  if (rcode !== 'NOERROR') throw new CheckFailed('dns', `it answered ${rcode}`)
  return addressesIn(answer, name, family).addresses[0]
}
