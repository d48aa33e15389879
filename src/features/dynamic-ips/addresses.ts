import { type Address, type AddressRange, formatAddress, inRanges, parseAddress, parseRange } from '../../core/net/address'
import { ipv6Octets, ipv6Text } from '../../dns/address-octets'

export const families = ['ipv4', 'ipv6'] as const
export type Family = (typeof families)[number]

/** Why an address can never be reported. */
type RefusedClass = 'unspecified' | 'loopback' | 'multicast' | 'link_local'

/** Networks that are not reachable from the internet. */
type PrivateClass = 'private' | 'carrier_nat' | 'unique_local'

/** What a parameter says about an address, before the settings of the source apply. */
export type Reading =
  | { kind: 'address'; family: Family; address: string; class: 'public' | PrivateClass }
  | { kind: 'prefix'; prefix: string; class: 'public' | PrivateClass }
  | { kind: 'refused'; reason: RefusedClass | 'unreadable' | 'zone_id' | 'prefix_length' | 'prefix_missing_length' }

export const minPrefixLength = 48
/** The largest IPv6 network that a firewall rule gets from a source. */
export const minLinkPrefix = 56
export const maxPrefixLength = 64

/** Reads an address, or an IPv6 network with its prefix length. IPv4-mapped addresses become IPv4. */
export function readAddress(text: string): Reading {
  const zone = text.indexOf('%')
  if (zone >= 0) return { kind: 'refused', reason: parseAddress(text.slice(0, zone)) ? 'zone_id' : 'unreadable' }
  const [base = '', length, ...rest] = text.split('/')
  const address = parseAddress(base)
  if (!address || rest.length > 0) return { kind: 'refused', reason: 'unreadable' }
  const family = address.kind()
  const whole = family === 'ipv4' ? 32 : 128
  const bits = length === undefined ? whole : /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN
  if (!(bits <= whole)) return { kind: 'refused', reason: 'unreadable' }
  const name = classOf(address)
  if (isRefused(name)) return { kind: 'refused', reason: name }
  if (bits === whole) return { kind: 'address', family, address: formatAddress(address), class: name }
  if (family === 'ipv4' || bits < minPrefixLength || bits > maxPrefixLength) return { kind: 'refused', reason: 'prefix_length' }
  return { kind: 'prefix', prefix: networkOf(formatAddress(address), bits), class: name }
}

/** Reads a parameter that can only be an IPv6 prefix, such as `2001:db8:1:100::/56`. */
export function readPrefix(text: string): Reading {
  const read = readAddress(text)
  if (read.kind !== 'address') return read
  return { kind: 'refused', reason: text.includes('/') ? 'prefix_length' : 'prefix_missing_length' }
}

/** The IPv6 network of an address, such as `2001:db8:1:100::/56`. */
export function networkOf(address: string, length: number): string {
  const low = 128n - BigInt(length)
  return `${textOf((valueOf(address) >> low) << low)}/${length}`
}

/**
 * Reads the lower bits of the addresses of a host: an IPv6 address such as `::10`, or a MAC address, which becomes an interface
 * identifier (RFC 4291 appendix A). Null: neither, or with bits that no prefix leaves free.
 */
export function readSuffix(text: string): bigint | null {
  const mac = /^([0-9a-f]{2})([:-])(?:[0-9a-f]{2}\2){4}[0-9a-f]{2}$/i.test(text)
  if (mac) return interfaceId(text.split(/[:-]/).map(octet => Number.parseInt(octet, 16)))
  try {
    const value = numberOf(ipv6Octets(text))
    return value >> BigInt(128 - minPrefixLength) === 0n ? value : null
  } catch {
    return null
  }
}

/** The address of a host: the bits of the prefix, and the suffix below them. Null if the suffix has bits above the end of the prefix. */
export function addressInPrefix(prefix: string, suffix: string): string | null {
  const [base = '', length = ''] = prefix.split('/')
  const value = readSuffix(suffix)
  if (value === null || value >> (128n - BigInt(length)) !== 0n) return null
  return textOf(valueOf(base) | value)
}

/** The interface identifier of a MAC address: `ff:fe` in the middle, and the universal/local bit inverted. */
function interfaceId([a = 0, b = 0, c = 0, d = 0, e = 0, f = 0]: number[]): bigint {
  return numberOf([a ^ 2, b, c, 0xff, 0xfe, d, e, f])
}

const valueOf = (address: string): bigint => numberOf(ipv6Octets(address))
const numberOf = (octets: Iterable<number>): bigint => [...octets].reduce((value, octet) => (value << 8n) | BigInt(octet), 0n)
const textOf = (value: bigint): string =>
  ipv6Text(Uint8Array.from({ length: 16 }, (_, at) => Number((value >> BigInt(120 - at * 8)) & 255n)))

const isRefused = (name: 'public' | RefusedClass | PrivateClass): name is RefusedClass =>
  name === 'unspecified' || name === 'loopback' || name === 'multicast' || name === 'link_local'

const classOf = (address: Address): 'public' | RefusedClass | PrivateClass =>
  classes.find(([, ranges]) => inRanges(address, ranges))?.[0] ?? 'public'

const ranges = (...texts: string[]): AddressRange[] => texts.map(text => parseRange(text)!)

const classes: [RefusedClass | PrivateClass, AddressRange[]][] = [
  ['unspecified', ranges('0.0.0.0/8', '::/128')],
  ['loopback', ranges('127.0.0.0/8', '::1/128')],
  ['multicast', ranges('224.0.0.0/4', 'ff00::/8')],
  ['link_local', ranges('169.254.0.0/16', 'fe80::/10')],
  ['private', ranges('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16')],
  ['carrier_nat', ranges('100.64.0.0/10')],
  ['unique_local', ranges('fc00::/7')],
]
