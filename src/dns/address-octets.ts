import { DnsFormatError } from './format-error'

// Strict parsing for address records: no short, octal or hexadecimal IPv4 (unlike inet_aton), no zone ids, no unwrapping of
// IPv4-mapped IPv6. Addresses to connect to are parsed by core/net/address.ts, which is more lenient.

/** Parses dotted decimal text without leading zeros. @throws DnsFormatError */
export function ipv4Octets(text: string): Uint8Array {
  const octets = new Uint8Array(4)
  const parts = text.split('.')
  if (parts.length !== 4) throw notIpv4(text)
  for (const [at, part] of parts.entries()) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) throw notIpv4(text)
    octets[at] = Number(part)
  }
  return octets
}

/** Formats four octets as dotted decimal. */
export function ipv4Text(octets: Uint8Array): string {
  return `${octets[0]}.${octets[1]}.${octets[2]}.${octets[3]}`
}

/** Parses the text forms of RFC 4291 section 2.2: groups, one `::`, and a dotted tail. @throws DnsFormatError */
export function ipv6Octets(text: string): Uint8Array {
  const tail = text.lastIndexOf('.') < 0 ? '' : text.slice(text.lastIndexOf(':') + 1)
  const plain = tail === '' ? text : text.slice(0, text.length - tail.length) + dottedGroups(tail, text)
  const halves = plain.split('::')
  if (halves.length > 2) throw notIpv6(text)
  const head = groupsOf(halves[0]!, text)
  const rest = halves.length === 2 ? groupsOf(halves[1]!, text) : []
  const missing = 8 - head.length - rest.length
  // “::” replaces at least one group (RFC 4291 section 2.2).
  if (halves.length === 2 ? missing < 1 : missing !== 0) throw notIpv6(text)
  const octets = new Uint8Array(16)
  for (const [at, group] of [...head, ...Array<number>(missing).fill(0), ...rest].entries()) {
    octets[at * 2] = group >> 8
    octets[at * 2 + 1] = group & 0xff
  }
  return octets
}

/** Formats by RFC 5952: lower case, the longest run of two or more zero groups as `::`, IPv4-mapped with a dotted tail. */
export function ipv6Text(octets: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, at) => (octets[at * 2]! << 8) | octets[at * 2 + 1]!)
  if (groups[5] === 0xffff && groups.slice(0, 5).every(group => group === 0)) return `::ffff:${ipv4Text(octets.subarray(12))}`
  let start = -1
  let length = 1
  for (let at = 0; at < 8; at++) {
    let end = at
    while (end < 8 && groups[end] === 0) end++
    if (end - at > length) [start, length] = [at, end - at]
    if (end > at) at = end
  }
  const hex = (from: number, to: number) =>
    groups
      .slice(from, to)
      .map(group => group.toString(16))
      .join(':')
  return start < 0 ? hex(0, 8) : `${hex(0, start)}::${hex(start + length, 8)}`
}

const notIpv4 = (text: string) =>
  new DnsFormatError(
    `must be an IPv4 address such as 192.0.2.1, four decimal numbers without leading zeros, not "${short(text)}"`,
  )
const notIpv6 = (text: string) => new DnsFormatError(`must be an IPv6 address such as 2001:db8::1, not "${short(text)}"`)
const short = (text: string) => (text.length > 64 ? `${text.slice(0, 64)}…` : text)

function dottedGroups(tail: string, text: string): string {
  try {
    const [a = 0, b = 0, c = 0, d = 0] = ipv4Octets(tail)
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  } catch {
    throw notIpv6(text)
  }
}

function groupsOf(half: string, text: string): number[] {
  if (half === '') return []
  return half.split(':').map(group => {
    if (!/^[0-9a-f]{1,4}$/i.test(group)) throw notIpv6(text)
    return Number.parseInt(group, 16)
  })
}
