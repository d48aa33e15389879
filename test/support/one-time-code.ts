import { createHmac } from 'node:crypto'

/** The code of a secret at a time (ms), according to RFC 6238 section 4 and RFC 4226 section 5.3. */
export function codeAt(secret: string, ms: number): string {
  const bits = [...secret].map(one => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(one).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from(bits.match(/.{8}/g)!.map(byte => Number.parseInt(byte, 2)))
  const step = Buffer.alloc(8)
  step.writeBigUInt64BE(BigInt(Math.floor(ms / 30_000)))
  const hash = createHmac('sha1', key).update(step).digest()
  const code = hash.readUInt32BE(hash[19]! & 15) & 0x7fffffff
  return String(code % 1_000_000).padStart(6, '0')
}
