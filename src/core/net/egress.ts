import { lookup } from 'node:dns/promises'
import {
  type Address,
  type AddressRange,
  classOf,
  effectiveAddress,
  formatAddress,
  inRanges,
  parseAddress,
  parseRange,
} from './address'
import { canonicalHost, isPrivateName } from './host-name'
import { interfaceAddresses, isOwnListener, type Listener } from './own-listeners'

/**
 * Which hosts outgoing requests of a workspace may reach.
 *
 * `allowPrivate`: allows private, loopback and reserved addresses, names of local networks, and any port.
 * `allowRanges`: additional targets allowed by the operator: CIDR ranges, IP addresses, hostnames, or `*.suffix` for all names under
 * a suffix. A listed name is allowed whatever it resolves to. Listed targets are exempt from the rules on names, ports and HTTPS.
 * `requireHttps`: refuses plain HTTP, except to listed targets.
 *
 * No policy allows metadata addresses, link-local IPv6, multicast, 0.0.0.0/8, or the hub's own listeners. Its name server is only
 * open to DNS queries.
 */
export type NetworkPolicy = { allowPrivate: boolean; allowRanges: readonly string[]; requireHttps: boolean }

/** Derives the policy of one request from the stored policy of a workspace. Requests with secrets require HTTPS. */
export function networkPolicy(
  stored: { allow_private: boolean; allow_ranges: readonly string[] },
  call: { carriesSecret: boolean },
): NetworkPolicy {
  return {
    allowPrivate: stored.allow_private,
    allowRanges: stored.allow_ranges,
    requireHttps: call.carriesSecret && !stored.allow_private,
  }
}

/** Whether a text is valid in `allowRanges`: a CIDR range, an IP address, a hostname, or `*.` and a hostname. */
export function isAllowRange(text: string): boolean {
  if (parseRange(text)) return true
  const name = text.startsWith('*.') ? text.slice(2) : text
  const host = canonicalHost(name)
  return host !== null && !parseAddress(host)
}

/** The request was refused before it was sent. The message may be shown to customers, so it never contains the resolved address. */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused'
  constructor(
    readonly errorClass: 'dns' | 'blocked_address' | 'invalid_url',
    message: string,
    /** Whether the target is this hub itself. */
    readonly isSelf = false,
  ) {
    super(message)
  }
}

/**
 * An address that may be connected to. `host` is the canonical name, or the IP address without brackets, for the Host header and
 * SNI. `listed` is true if the operator allowed the name or every address it resolved to.
 */
export type VettedHost = { address: string; family: 4 | 6; host: string; port: number; listed: boolean }

/** Resolves a name to its IPv4 and IPv6 addresses, the preferred one first. Returns none or throws if there are none. */
export type Resolve = (name: string) => Promise<string[]>

/** What a connection is used for. DNS queries may reach the hub's own name server. */
export type Purpose = 'any' | 'dns_query'

export type Egress = {
  /** Resolves and checks a host and port. Call it for every connection, and connect to the returned address, not the name. */
  vetHost(host: string, port: number, policy: NetworkPolicy, purpose?: Purpose): Promise<VettedHost>
  /** The same for something that connects to every address of the host. The preferred address is first. */
  vetAddresses(host: string, port: number, policy: NetworkPolicy, purpose?: Purpose): Promise<VettedHost[]>
  /** The same for an http or https URL, with the rules for URLs. Call it when a URL is saved and before each request. */
  vetUrl(url: string, policy: NetworkPolicy): Promise<VettedHost & { url: URL }>
}

/**
 * Checks every outgoing connection. All functions throw EgressRefused.
 * `resolve` defaults to the system resolver, `ownAddresses` to the addresses of this machine's interfaces, and `resolveWithinMs` to
 * 3,000.
 */
export function createEgress(options: {
  ownListeners: () => readonly Listener[]
  ownAddresses?: () => readonly string[]
  resolve?: Resolve
  resolveWithinMs?: number
}): Egress {
  const { ownListeners, ownAddresses = interfaceAddresses, resolve = systemResolve, resolveWithinMs = 3000 } = options

  async function vetAddresses(
    text: string,
    port: number,
    policy: NetworkPolicy,
    purpose: Purpose = 'any',
  ): Promise<VettedHost[]> {
    const host = canonicalHost(text)
    if (host === null) throw new EgressRefused('invalid_url', 'The host is neither a hostname nor an IP address.')
    if (!Number.isInteger(port) || port < 1 || port > 65535) {
      throw new EgressRefused('invalid_url', 'The port must be a number from 1 to 65535.')
    }
    const allowed = readAllowed(policy.allowRanges)
    const nameListed = isNameListed(host, allowed.names)
    const privateName = isPrivateName(host) && !policy.allowPrivate && !nameListed
    if (privateName && allowed.ranges.length === 0) throw blocked()

    const literal = parseAddress(host)
    const forbidden = ownListeners().filter(one => !(purpose === 'dns_query' && one.isNameServer))
    const answers = literal ? [literal] : await answersFor(host, resolve, resolveWithinMs)
    // A forbidden address among allowed ones indicates DNS rebinding, so refuse the name altogether.
    for (const address of answers) {
      if (!isAllowed(address, policy, allowed.ranges, nameListed)) throw blocked()
      // The workspace may reach this address, so a specific message reveals nothing.
      if (isOwnListener(address, port, forbidden, ownAddresses)) throw ownHub()
    }
    const listed = nameListed || answers.every(address => isListed(address, allowed.ranges))
    if (privateName && !listed) throw blocked()
    return answers.map(address => {
      return { address: formatAddress(address), family: address.kind() === 'ipv4' ? 4 : 6, host, port, listed }
    })
  }

  const vetHost: Egress['vetHost'] = async (...target) => (await vetAddresses(...target))[0]!

  async function vetUrl(text: string, policy: NetworkPolicy): Promise<VettedHost & { url: URL }> {
    const url = readUrl(text)
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
    const violation = urlRuleViolation(url, port, policy)
    if (violation && policy.allowRanges.length === 0) throw new EgressRefused('invalid_url', violation)
    const vetted = await vetHost(url.hostname, port, policy)
    if (violation && !vetted.listed) throw new EgressRefused('invalid_url', violation)
    return { ...vetted, url }
  }

  return { vetHost, vetAddresses, vetUrl }
}

/**
 * Checks a host for UDP packets to devices. Unlike TCP, they reach hosts that never agreed to a connection, so the workspace must be allowed
 * to reach private addresses, or the operator must list the host. @throws EgressRefused
 */
export async function vetUdpHost(
  egress: Pick<Egress, 'vetHost'>,
  host: string,
  port: number,
  policy: NetworkPolicy,
): Promise<VettedHost> {
  const vetted = await egress.vetHost(host, port, policy)
  if (policy.allowPrivate || vetted.listed) return vetted
  throw new EgressRefused('blocked_address', 'The network policy of this workspace does not allow UDP packets to this host.')
}

/** Whether a policy allows a workspace to see that a name has this address. @param host canonical */
export function isOpenTo(host: string, address: Address, policy: NetworkPolicy): boolean {
  const { ranges, names } = readAllowed(policy.allowRanges)
  return isAllowed(address, policy, ranges, isNameListed(host, names))
}

function isAllowed(address: Address, policy: NetworkPolicy, ranges: readonly AddressRange[], nameListed: boolean): boolean {
  const allowed = policy.allowPrivate || classOf(address) === 'public' || nameListed || isListed(address, ranges)
  return allowed && !isNeverReachable(address)
}

function readUrl(text: string): URL {
  // The URL parser removes or rewrites these characters, so the saved URL would differ from the requested one.
  const url = /[\s\p{Cc}\\]/u.test(text) ? null : URL.parse(text)
  if (!url || !/^https?:\/\//i.test(text)) throw new EgressRefused('invalid_url', 'The URL must start with http:// or https://.')
  if (url.username || url.password) throw new EgressRefused('invalid_url', 'The URL must not contain a username or password.')
  if (text.includes('#')) throw new EgressRefused('invalid_url', 'The URL must not contain a fragment.')
  return url
}

/** Returns which rule for unlisted targets a URL violates, or null. */
function urlRuleViolation(url: URL, port: number, policy: NetworkPolicy): string | null {
  if (url.protocol === 'http:' && policy.requireHttps) return 'The URL must use https.'
  // Services on ports below 1024, such as mail servers, can be abused with crafted HTTP requests.
  if (!policy.allowPrivate && port < 1024 && port !== 80 && port !== 443) return 'The port must be 80, 443, or 1024 and above.'
  return null
}

function readAllowed(texts: readonly string[]): { ranges: AddressRange[]; names: string[] } {
  const ranges: AddressRange[] = []
  const names: string[] = []
  for (const text of texts) {
    const range = parseRange(text)
    if (range) ranges.push(range)
    else names.push(text)
  }
  return { ranges, names }
}

function isListed(address: Address, ranges: readonly AddressRange[]): boolean {
  return inRanges(effectiveAddress(address), ranges)
}

function isNameListed(host: string, names: readonly string[]): boolean {
  return names.some(name => {
    if (!name.startsWith('*.')) return canonicalHost(name) === host
    const suffix = canonicalHost(name.slice(2))
    return suffix !== null && host.endsWith(`.${suffix}`)
  })
}

async function answersFor(name: string, resolve: Resolve, withinMs: number): Promise<Address[]> {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => timeout.reject(unresolved()), withinMs)
  try {
    const texts = await Promise.race([resolve(name), timeout.promise])
    if (texts.length === 0) throw unresolved()
    return texts.map(text => {
      const address = parseAddress(text)
      if (!address) throw blocked()
      return address
    })
  } catch (error) {
    throw error instanceof EgressRefused ? error : unresolved()
  } finally {
    clearTimeout(timer)
  }
}

/** Whether no policy allows an address. Link-local IPv6 needs a zone ID, which URLs can't contain. */
function isNeverReachable(address: Address): boolean {
  const kind = classOf(address)
  if (kind === 'link_local') return address.kind() === 'ipv6'
  return kind === 'metadata' || kind === 'multicast' || kind === 'unspecified'
}

// The same message for private and metadata addresses and for private addresses of the hub, so that the network can't be mapped.
function blocked(): EgressRefused {
  return new EgressRefused(
    'blocked_address',
    'The host is, or resolves to, an address that the network policy of this workspace does not allow.',
  )
}

function ownHub(): EgressRefused {
  return new EgressRefused('blocked_address', 'The host is, or resolves to, this hub itself.', true)
}

function unresolved(): EgressRefused {
  return new EgressRefused('dns', 'The hostname could not be resolved.')
}

/** The system resolver, which includes /etc/hosts and puts address families without a route last (RFC 6724). */
export async function systemResolve(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(answer => answer.address)
}
