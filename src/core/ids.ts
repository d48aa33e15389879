import { V7Generator } from 'uuidv7'
import type { Declared } from './declared'

/** The type of an id: the part before the underscore. */
export type IdPrefix = Declared['idPrefix']

/** A TypeID (specification 0.3.0): prefix, underscore, and a UUIDv7 as 26 characters of lowercase Crockford base32. */
type Id<P extends IdPrefix = IdPrefix> = `${P}_${string}`

/**
 * Returns a new TypeID. Ids of a thread are strictly increasing, even within a millisecond and when the clock is set back, so
 * that sorting by id sorts by creation time.
 */
export function newId<P extends IdPrefix>(prefix: P): Id<P> {
  return `${prefix}_${toBase32(uuids.generate().bytes)}`
}

/** Whether a text is a well-formed TypeID with this prefix. */
export function isId<P extends IdPrefix>(text: string, prefix: P): text is Id<P> {
  const start = prefix.length + 1
  if (text.length !== start + 26 || text[start - 1] !== '_' || !text.startsWith(prefix)) return false
  // 26 characters have 130 bits: a first character above 7 would overflow the 128 bits of a UUID.
  if (text.charCodeAt(start) > sevenCode) return false
  for (let at = start; at < text.length; at++) if (valueOf(text, at) < 0) return false
  return true
}

/**
 * Returns the time in a TypeID, in milliseconds since 1970: the creation time, or if the clock was set back, the latest time
 * before.
 * @throws TypeError if the text does not end in the 26 characters of a TypeID
 */
export function idTime(id: string): number {
  const start = id.length - 26
  if (start < 2 || id[start - 1] !== '_') throw new TypeError('Not a valid id.')
  // Two zero bits and the 48 bits of the time are exactly the first ten characters.
  let time = 0
  for (let at = start; at < id.length; at++) {
    const value = valueOf(id, at)
    if (value < 0) throw new TypeError('Not a valid id.')
    if (at < start + 10) time = time * 32 + value
  }
  return time
}

/** The smallest id with this time (ms since 1970). All ids created from then on are greater or equal. */
export function minIdAt<P extends IdPrefix>(prefix: P, time: number): Id<P> {
  const bytes = new Uint8Array(16)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(Math.max(0, Math.trunc(time))) << 16n)
  return `${prefix}_${toBase32(bytes)}`
}

/** Returns a random UUID (version 4, RFC 9562 section 5.4) in lower case. */
export function newUuid4(): string {
  return crypto.randomUUID()
}

const uuids = new V7Generator()
// If the clock is set back by any amount, keep using the last time, so that new rows don't sort before old ones.
uuids.setRollbackAllowance(2 ** 48 - 1)

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const sevenCode = '7'.charCodeAt(0)
const values = new Int8Array(128).fill(-1)
for (let value = 0; value < 32; value++) values[alphabet.charCodeAt(value)] = value

// Two characters at a time.
const pairs = Array.from({ length: 1024 }, (_, value) => alphabet[value >>> 5]! + alphabet[value & 31]!)

/** Encodes the 16 bytes of a UUID as the 26 characters of a TypeID. */
export function toBase32(bytes: Readonly<Uint8Array>): string {
  let text = ''
  let pending = 0
  // Two leading zero bits pad the 128 bits to 26 characters.
  let bits = 2
  for (let at = 0; at < 16; at++) {
    pending = (pending << 8) | bytes[at]!
    bits += 8
    if (bits < 10) continue
    bits -= 10
    text += pairs[pending >>> bits]!
    pending &= (1 << bits) - 1
  }
  return text
}

function valueOf(text: string, at: number): number {
  return values[text.charCodeAt(at)] ?? -1
}
