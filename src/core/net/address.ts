import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

/** A network in CIDR notation: its address and prefix length. */
export type AddressRange = readonly [Address, number]

/**
 * Class of an address, as far as outgoing connections are concerned. `private` includes carrier-grade NAT (RFC 6598) and unique
 * local addresses (RFC 4193); `reserved` is everything else that is not global unicast.
 */
export type AddressClass =
  'public' | 'private' | 'loopback' | 'link_local' | 'metadata' | 'multicast' | 'unspecified' | 'reserved'

/**
 * Parses an IPv4 or IPv6 address in standard notation. IPv4-mapped IPv6 addresses (RFC 4291 2.5.5.2) become IPv4.
 * Returns null for everything else: zone IDs, short, octal and hexadecimal IPv4, brackets, ports.
 */
export function parseAddress(text: string): Address | null {
  const family = isIP(text)
  if (family === 0 || text.includes('%')) return null
  if (family === 4) return ipaddr.IPv4.parse(text)
  return unwrapMapped(parseIPv6(text))
}

/** Parses a CIDR range (`10.0.0.0/8`, `fd00::/8`) or a single address. Returns null for everything else. */
export function parseRange(text: string): AddressRange | null {
  const [base = '', bits, ...rest] = text.split('/')
  const family = isIP(base)
  if (family === 0 || base.includes('%') || rest.length > 0) return null
  const width = family === 4 ? 32 : 128
  if (bits !== undefined && !/^(0|[1-9]\d{0,2})$/.test(bits)) return null
  const prefix = bits === undefined ? width : Number(bits)
  if (prefix > width) return null
  if (family === 4) return [ipaddr.IPv4.parse(base), prefix]
  const address = parseIPv6(base)
  return address.isIPv4MappedAddress() && prefix >= 96 ? [address.toIPv4Address(), prefix - 96] : [address, prefix]
}

/** Formats a network in CIDR notation, without host bits. */
export function formatNetwork([base, prefix]: AddressRange): string {
  const kind = base.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6
  return `${formatAddress(kind.networkAddressFromCIDR(`${formatAddress(base)}/${prefix}`))}/${prefix}`
}

/** Whether any of the ranges contains the address. */
export function inRanges(address: Address, ranges: readonly AddressRange[]): boolean {
  return ranges.some(([base, prefix]) => base.kind() === address.kind() && address.match([base, prefix]))
}

/**
 * The address that packets are delivered to: the embedded IPv4 address for the well-known NAT64 prefix 64:ff9b::/96 (RFC 6052),
 * otherwise the address itself. Rules apply to this address; connect to the original one.
 */
export function effectiveAddress(address: Address): Address {
  return address.kind() === 'ipv6' && inRanges(address, NAT64) ? lastIPv4(address as ipaddr.IPv6) : address
}

/**
 * Classifies an address by the IANA special-purpose registries (RFC 6890 and its successors). IPv6 is only public within 2000::/3;
 * everything not allocated yet is reserved. NAT64 addresses have the class of the embedded IPv4 address.
 */
export function classOf(address: Address): AddressClass {
  const target = effectiveAddress(address)
  if (isMetadata(target)) return 'metadata'
  const table = target.kind() === 'ipv4' ? IPV4_CLASSES : IPV6_CLASSES
  const special = table.find(([, ranges]) => inRanges(target, ranges))
  if (special) return special[0]
  return target.kind() === 'ipv4' || inRanges(target, GLOBAL_UNICAST) ? 'public' : 'reserved'
}

/** Formats an address canonically: dotted decimal for IPv4, RFC 5952 for IPv6. */
export function formatAddress(address: Address): string {
  return address.kind() === 'ipv4' ? address.toString() : (address as ipaddr.IPv6).toRFC5952String()
}

/**
 * The key for rate limiting a client: an IPv4 address, or the /64 of an IPv6 address, because a subscriber gets at least a /64
 * (RFC 6177) and can use any address in it. Text that is not an address is its own key.
 */
export function rateLimitKey(text: string): string {
  const address = parseAddress(text.split('%')[0] ?? '')
  if (!address) return text
  if (address.kind() === 'ipv4') return address.toString()
  const network = new ipaddr.IPv6([...(address as ipaddr.IPv6).parts.slice(0, 4), 0, 0, 0, 0])
  return `${network.toRFC5952String()}/64`
}

// ipaddr.js wrongly parses ::1.2.3.4 as IPv4-mapped, so convert a dotted tail to two groups first.
function parseIPv6(text: string): ipaddr.IPv6 {
  const tail = text.slice(text.lastIndexOf(':') + 1)
  if (!tail.includes('.')) return ipaddr.IPv6.parse(text)
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv4.parse(tail).octets
  const groups = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
  return ipaddr.IPv6.parse(text.slice(0, -tail.length) + groups)
}

function unwrapMapped(address: ipaddr.IPv6): Address {
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address
}

function lastIPv4(address: ipaddr.IPv6): ipaddr.IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(12))
}

function isMetadata(address: Address): boolean {
  if (inRanges(address, METADATA)) return true
  if (address.kind() === 'ipv4') return false
  // Translators outside the well-known prefix (local NAT64, SIIT, IPv4-compatible) embed IPv4 in the last 32 bits, 6to4 after its
  // 16-bit prefix. Metadata addresses must not be reachable through any of them.
  const ipv6 = address as ipaddr.IPv6
  if (inRanges(ipv6, SIX_TO_FOUR)) return inRanges(new ipaddr.IPv4(ipv6.toByteArray().slice(2, 6)), METADATA)
  return !inRanges(ipv6, GLOBAL_UNICAST) && inRanges(lastIPv4(ipv6), METADATA)
}

const ranges = (...texts: string[]): AddressRange[] =>
  texts.map(text => {
    const range = parseRange(text)
    if (!range) throw new Error(`not a CIDR range: ${text}`)
    return range
  })

const NAT64 = ranges('64:ff9b::/96')
const SIX_TO_FOUR = ranges('2002::/16')
const GLOBAL_UNICAST = ranges('2000::/3')

// Cloud metadata services, which give credentials to any process on a machine.
const METADATA = ranges(
  '169.254.169.254', // AWS, Azure, Google, DigitalOcean, Hetzner, OpenStack, Oracle
  '169.254.170.2', // AWS ECS task credentials
  '169.254.170.23', // AWS EKS pod identity
  'fd00:ec2::254', // AWS
  'fd00:ec2::23', // AWS EKS pod identity
  'fd20:ce::254', // Google
  '100.100.100.200', // Alibaba
  '168.63.129.16', // Azure's host agent: a public address that responds on every Azure machine
)

const IPV4_CLASSES: [AddressClass, AddressRange[]][] = [
  ['unspecified', ranges('0.0.0.0/8')],
  ['loopback', ranges('127.0.0.0/8')],
  ['link_local', ranges('169.254.0.0/16')],
  ['private', ranges('10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16')],
  ['multicast', ranges('224.0.0.0/4')],
  [
    'reserved',
    ranges('192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '240.0.0.0/4'),
  ],
]

const IPV6_CLASSES: [AddressClass, AddressRange[]][] = [
  ['unspecified', ranges('::')],
  ['loopback', ranges('::1')],
  ['link_local', ranges('fe80::/10')],
  ['private', ranges('fc00::/7')],
  ['multicast', ranges('ff00::/8')],
  ['reserved', ranges('2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20')],
]
