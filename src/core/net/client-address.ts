import { type Address, type AddressRange, formatAddress, inRanges, parseAddress } from './address'

/**
 * Returns the address of the client: the address of the socket, unless it belongs to a trusted proxy. Then it is the right-most hop
 * in X-Forwarded-For or Forwarded (RFC 7239) that is not a trusted proxy, because everything to its left can be forged by the client.
 * An unreadable hop (`unknown`, an obfuscated name, garbage) counts as the proxy that reported it.
 * The address is canonical, IPv4-mapped addresses become IPv4, and zone IDs are removed.
 */
export function clientAddress(socketAddress: string, headers: Headers, trustedProxies: readonly AddressRange[]): string {
  const known = parsed(socketAddress)
  if (!known) return socketAddress
  const { peer } = known
  if (!inRanges(peer, trustedProxies)) return known.name

  const forwardedFor = headers.get('x-forwarded-for')
  const forwarded = headers.get('forwarded')
  const found: Address[] = []
  if (forwardedFor !== null) found.push(walk(peer, forwardedFor.split(',').map(hopAddress), trustedProxies))
  if (forwarded !== null) found.push(walk(peer, forwardedHops(forwarded), trustedProxies))

  // A proxy sets one of the two headers and forwards the other as sent by the client. If they disagree, one is forged, and it is
  // unknown which, so use the address of the proxy.
  const names = new Set(found.map(formatAddress))
  return names.size === 1 ? [...names][0]! : known.name
}

/**
 * Whether the client's connection is encrypted. For the socket of a trusted proxy, this is the client's connection to the proxy, if the
 * proxy reports its protocol.
 */
export function isEncrypted(
  socket: { address: string; encrypted: boolean },
  headers: Headers,
  trustedProxies: readonly AddressRange[],
): boolean {
  const known = parsed(socket.address)
  if (!known || !inRanges(known.peer, trustedProxies)) return socket.encrypted
  const names = headers.get('x-forwarded-proto')?.split(',').at(-1) ?? protocolOf(headers.get('forwarded'))
  return names === null ? socket.encrypted : names.trim().toLowerCase() === 'https'
}

/** The `proto` of the last element of a Forwarded header, which the nearest proxy added; null if it has none. */
const protocolOf = (forwarded: string | null): string | null =>
  /(?:^|;)\s*proto\s*=\s*"?(\w+)"?\s*(?:;|$)/i.exec(splitOutsideQuotes(forwarded ?? '', ',').at(-1) ?? '')?.[1] ?? null

const maxParsed = 1000
const parsedAddresses = new Map<string, { peer: Address; name: string }>()

/** The address of a socket and its canonical form; null if it is unreadable. Clients send many requests from one address. */
function parsed(socketAddress: string): { peer: Address; name: string } | null {
  const known = parsedAddresses.get(socketAddress)
  if (known) return known
  const peer = parseAddress(withoutZone(socketAddress))
  if (!peer) return null
  const result = { peer, name: formatAddress(peer) }
  if (parsedAddresses.size >= maxParsed) parsedAddresses.clear()
  parsedAddresses.set(socketAddress, result)
  return result
}

/** Walks from the connecting proxy toward the client and stops at the first hop that is not a trusted proxy. */
function walk(peer: Address, hops: (Address | null)[], trustedProxies: readonly AddressRange[]): Address {
  let nearest = peer
  for (const hop of hops.toReversed()) {
    if (!hop) return nearest
    nearest = hop
    if (!inRanges(hop, trustedProxies)) return hop
  }
  return nearest
}

/** Parses a hop as proxies write it: `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:4711`. */
function hopAddress(text: string): Address | null {
  const hop = text.trim()
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(hop)
  if (bracketed) return parseAddress(withoutZone(bracketed[1]!))
  const withPort = /^([\d.]+):\d{1,5}$/.exec(hop)
  return parseAddress(withoutZone(withPort ? withPort[1]! : hop))
}

/** Returns the `for` of each element of a Forwarded header; null if it is missing, repeated or unreadable. */
function forwardedHops(header: string): (Address | null)[] {
  return splitOutsideQuotes(header, ',').map(element => {
    const values = splitOutsideQuotes(element, ';')
      .map(pair => /^\s*for\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^"]*))\s*$/i.exec(pair))
      .filter(match => match !== null)
      .map(match => match[1]?.replace(/\\(.)/g, '$1') ?? match[2] ?? '')
    return values.length === 1 ? hopAddress(values[0]!) : null
  })
}

function splitOutsideQuotes(text: string, separator: ',' | ';'): string[] {
  const parts: string[] = []
  let start = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (quoted && character === '\\') at++
    else if (character === '"') quoted = !quoted
    else if (!quoted && character === separator) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  parts.push(text.slice(start))
  return parts
}

function withoutZone(text: string): string {
  return text.split('%')[0] ?? ''
}
