/** Encodes a value in DER (ITU-T X.690 section 8.1). */
export function encoded(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  if (length > 0xffff) throw new RangeError('The value is too long.')
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

export const sequence = (...parts: Uint8Array[]): Buffer => encoded(0x30, ...parts)
export const set = (...parts: Uint8Array[]): Buffer => encoded(0x31, ...parts)
export const bitString = (octets: Uint8Array, unusedBits = 0): Buffer => encoded(0x03, Buffer.of(unusedBits), octets)

/** An object identifier, such as `2.5.29.17`. */
export function oid(text: string): Buffer {
  const [first, second, ...rest] = text.split('.').map(Number) as [number, number, ...number[]]
  const base128 = (value: number): number[] =>
    value < 128 ? [value] : [...base128(value >> 7).map(one => one | 0x80), value & 127]
  return encoded(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

/** An extension of a certificate (RFC 5280 section 4.2). */
export const extension = (id: string, value: Uint8Array, isCritical = false): Buffer =>
  sequence(oid(id), ...(isCritical ? [encoded(0x01, Buffer.of(0xff))] : []), encoded(0x04, value))
