import { parseAddress } from '../../core/net/address'

/** The absolute name of an address below in-addr.arpa (RFC 1035 section 3.5) or ip6.arpa (RFC 3596 section 2.5). */
export function reverseName(text: string): string {
  const octets = parseAddress(text)!.toByteArray()
  if (octets.length === 4) return `${octets.reverse().join('.')}.in-addr.arpa.`
  const digits = octets.map(octet => octet.toString(16).padStart(2, '0')).join('')
  return `${[...digits].reverse().join('.')}.ip6.arpa.`
}
