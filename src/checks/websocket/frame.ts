/** Opcodes (RFC 6455 section 5.2). */
export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** A whole message in one masked client frame (section 5.3). @param mask four random bytes */
export function frame(opcode: number, payload: Uint8Array, mask: Uint8Array): Uint8Array {
  const { length } = payload
  const long = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const octets = Buffer.alloc(2 + long + 4 + length)
  octets[0] = 0x80 | opcode
  octets[1] = 0x80 | (long === 0 ? length : long === 2 ? 126 : 127)
  if (long === 2) octets.writeUInt16BE(length, 2)
  if (long === 8) octets.writeBigUInt64BE(BigInt(length), 2)
  octets.set(mask, 2 + long)
  for (let at = 0; at < length; at++) octets[6 + long + at] = payload[at]! ^ mask[at & 3]!
  return octets
}
