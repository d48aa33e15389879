/** The key exchange groups that a TLS client offers, by preference, from its ClientHello (RFC 8446 sections 4.1.2 and 4.2.7). */
export function groupsOffered(octets: Buffer): number[] {
  // Headers, version, random, session id, cipher suites and compression methods, followed by extensions.
  let at = 5 + 4 + 2 + 32
  at += 1 + octets.readUInt8(at)
  at += 2 + octets.readUInt16BE(at)
  at += 1 + octets.readUInt8(at) + 2
  while (octets.readUInt16BE(at) !== supportedGroups) at += 4 + octets.readUInt16BE(at + 2)
  const list = octets.subarray(at + 6, at + 6 + octets.readUInt16BE(at + 4))
  return Array.from({ length: list.length / 2 }, (_, n) => list.readUInt16BE(n * 2))
}

const supportedGroups = 10

/** X25519, and its post-quantum hybrid with ML-KEM-768. */
export const [x25519, x25519mlkem768] = [0x001d, 0x11ec]
