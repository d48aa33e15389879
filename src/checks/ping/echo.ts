/** ICMP echo (RFC 792) and ICMPv6 echo (RFC 4443 section 4), on the wire. */

export type Family = 4 | 6

/** Size of the header in bytes. */
const echoHeader = 8

const types = { 4: { request: 8, reply: 0 }, 6: { request: 128, reply: 129 } } as const

/** An echo request with checksum; kernels that compute it overwrite it. @param id and sequence of 16 bits */
export function echoRequest(family: Family, id: number, sequence: number, data: Uint8Array): Uint8Array {
  const octets = new Uint8Array(echoHeader + data.length)
  const view = new DataView(octets.buffer)
  octets[0] = types[family].request
  view.setUint16(4, id)
  view.setUint16(6, sequence)
  octets.set(data, echoHeader)
  // The ICMPv6 checksum covers the IP addresses, so the kernel computes it (RFC 3542 section 3.1).
  if (family === 4) view.setUint16(2, checksum(octets))
  return octets
}

/** Parses an echo reply; null for any other message. */
export function echoReply(family: Family, octets: Uint8Array): { id: number; sequence: number; data: Uint8Array } | null {
  if (octets.length < echoHeader || octets[0] !== types[family].reply || octets[1] !== 0) return null
  return { ...identityOf(octets), data: octets.subarray(echoHeader) }
}

/** Identifies the echo request that an ICMP error quotes. */
export function echoSent(family: Family, octets: Uint8Array): { id: number; sequence: number } | null {
  if (octets.length < echoHeader || octets[0] !== types[family].request) return null
  return identityOf(octets)
}

/** The payload of an IPv4 packet from a raw socket (RFC 791 section 3.1: the header length is in 32-bit words). */
export const withoutHeader = (packet: Uint8Array): Uint8Array => packet.subarray((packet[0]! & 15) * 4)

/** The Internet checksum (RFC 1071) of bytes whose checksum field is zero. */
export function checksum(octets: Uint8Array): number {
  let sum = 0
  for (let at = 0; at < octets.length; at += 2) sum += (octets[at]! << 8) | (octets[at + 1] ?? 0)
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16)
  return ~sum & 0xffff
}

function identityOf(octets: Uint8Array): { id: number; sequence: number } {
  const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength)
  return { id: view.getUint16(4), sequence: view.getUint16(6) }
}
