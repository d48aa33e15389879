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
 * Where calls made on a workspace's behalf may go.
 *
 * `allowPrivate`: private, loopback and reserved addresses, names that mean one's own network, any port.
 * `allowRanges`: what the operator opened besides: CIDRs, single addresses, host names, `*.suffix` for all names under
 * a suffix. A listed name is allowed wherever it resolves to. A listed target is free of the rules on names, ports and
 * HTTPS.
 * `requireHttps`: plain HTTP is refused, except to listed targets.
 *
 * No policy opens metadata addresses, link-local IPv6, multicast, 0.0.0.0/8, or the hub's own listeners.
 */
export type NetworkPolicy = { allowPrivate: boolean; allowRanges: readonly string[]; requireHttps: boolean }

/** A workspace's stored policy, made into the policy of one call: HTTPS is required where a secret travels in public. */
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

/** True for what `allowRanges` understands: a CIDR, an address, a host name, or `*.` and a host name. */
export function isAllowRange(text: string): boolean {
  if (parseRange(text)) return true
  const name = text.startsWith('*.') ? text.slice(2) : text
  const host = canonicalHost(name)
  return host !== null && !parseAddress(host)
}

/** The call was not made. The message may be shown to the customer: it never says which address was found. */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused'
  constructor(
    readonly errorClass: 'dns' | 'blocked_address' | 'invalid_url',
    message: string,
    /** Whether it is this hub itself that would be called. */
    readonly isSelf = false,
  ) {
    super(message)
  }
}

/**
 * An address that may be dialled now. `host` is the canonical name, or the literal without brackets, for the Host
 * header and SNI. `listed` is true when the operator listed the name or every address it resolved to.
 */
export type VettedHost = { address: string; family: 4 | 6; host: string; port: number; listed: boolean }

/** Returns the A and AAAA answers for a name as text, the one to dial first in front; empty or an error when none. */
export type Resolve = (name: string) => Promise<string[]>

export type Egress = {
  /** Resolves and vets a host and port. Call it for every connection, and dial the address returned, not the name. */
  vetHost(host: string, port: number, policy: NetworkPolicy): Promise<VettedHost>
  /** The same for an http or https URL, with the rules for URLs. Call it when one is saved and before each request. */
  vetUrl(url: string, policy: NetworkPolicy): Promise<VettedHost & { url: URL }>
}

/**
 * The guard in front of every outgoing connection. Both doors throw EgressRefused.
 * `resolve` defaults to the system's resolver, `ownAddresses` to the addresses of this machine's interfaces;
 * `resolveWithinMs` to 3,000.
 */
export function createEgress(options: {
  ownListeners: () => readonly Listener[]
  ownAddresses?: () => readonly string[]
  resolve?: Resolve
  resolveWithinMs?: number
}): Egress {
  const { ownListeners, ownAddresses = interfaceAddresses, resolve = systemResolve, resolveWithinMs = 3000 } = options

  async function vetHost(text: string, port: number, policy: NetworkPolicy): Promise<VettedHost> {
    const host = canonicalHost(text)
    if (host === null) throw new EgressRefused('invalid_url', 'The host is neither a host name nor an IP address.')
    if (!Number.isInteger(port) || port < 1 || port > 65535) {
      throw new EgressRefused('invalid_url', 'The port must be a number from 1 to 65535.')
    }
    const allowed = readAllowed(policy.allowRanges)
    const nameListed = isNameListed(host, allowed.names)
    const privateName = isPrivateName(host) && !policy.allowPrivate && !nameListed
    if (privateName && allowed.ranges.length === 0) throw blocked()

    const literal = parseAddress(host)
    const answers = literal ? [literal] : await answersFor(host, resolve, resolveWithinMs)
    // One forbidden answer among good ones is how a rebinding name looks, so it condemns them all.
    for (const address of answers) {
      if (!isOpen(address, policy, allowed.ranges, nameListed)) throw blocked()
      // Of an address that is open to the workspace, only this is left to refuse: saying it tells a stranger nothing more.
      if (isOwnListener(address, port, ownListeners(), ownAddresses)) throw own()
    }
    const listed = nameListed || answers.every(address => isListed(address, allowed.ranges))
    if (privateName && !listed) throw blocked()
    const first = answers[0]!
    return { address: formatAddress(first), family: first.kind() === 'ipv4' ? 4 : 6, host, port, listed }
  }

  async function vetUrl(text: string, policy: NetworkPolicy): Promise<VettedHost & { url: URL }> {
    const url = readUrl(text)
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
    const objection = objectionTo(url, port, policy)
    if (objection && policy.allowRanges.length === 0) throw new EgressRefused('invalid_url', objection)
    const vetted = await vetHost(url.hostname, port, policy)
    if (objection && !vetted.listed) throw new EgressRefused('invalid_url', objection)
    return { ...vetted, url }
  }

  return { vetHost, vetUrl }
}

/** Whether a policy lets a workspace know that a name has this address. @param host canonical */
export function isOpenTo(host: string, address: Address, policy: NetworkPolicy): boolean {
  const { ranges, names } = readAllowed(policy.allowRanges)
  return isOpen(address, policy, ranges, isNameListed(host, names))
}

function isOpen(address: Address, policy: NetworkPolicy, ranges: readonly AddressRange[], nameListed: boolean): boolean {
  const open = policy.allowPrivate || classOf(address) === 'public' || nameListed || isListed(address, ranges)
  return open && !isNeverReachable(address)
}

function readUrl(text: string): URL {
  // The URL parser drops or rewrites these; what was saved must be what is called.
  const url = /[\s\p{Cc}\\]/u.test(text) ? null : URL.parse(text)
  if (!url || !/^https?:\/\//i.test(text)) throw new EgressRefused('invalid_url', 'The URL must be an http or https address.')
  if (url.username || url.password) throw new EgressRefused('invalid_url', 'The URL must not contain a user name or password.')
  if (text.includes('#')) throw new EgressRefused('invalid_url', 'The URL must not contain a fragment.')
  return url
}

/** Why a target that the operator has not listed is refused by the look of its URL alone. */
function objectionTo(url: URL, port: number, policy: NetworkPolicy): string | null {
  if (url.protocol === 'http:' && policy.requireHttps) return 'The URL must use https.'
  // Below 1024 live mail, SSH and databases, which a crafted HTTP request may make do things.
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
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(unresolved()), withinMs)
  try {
    const texts = await Promise.race([resolve(name), late.promise])
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

/** True for addresses that no policy opens. Link-local IPv6 means nothing without a zone id, and a URL cannot carry one. */
function isNeverReachable(address: Address): boolean {
  const kind = classOf(address)
  if (kind === 'link_local') return address.kind() === 'ipv6'
  return kind === 'metadata' || kind === 'multicast' || kind === 'unspecified'
}

// One sentence for private and metadata addresses, and for own ones that are private, or the refusal would map the network for a stranger.
function blocked(): EgressRefused {
  return new EgressRefused('blocked_address', 'The host is, or resolves to, an address this workspace may not call.')
}

function own(): EgressRefused {
  return new EgressRefused('blocked_address', 'The host is, or resolves to, this hub itself, which does not call itself.', true)
}

function unresolved(): EgressRefused {
  return new EgressRefused('dns', 'The host name could not be resolved.')
}

/** The system's resolver: it also knows /etc/hosts and puts families without a route last (RFC 6724). */
export async function systemResolve(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(answer => answer.address)
}
