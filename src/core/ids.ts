import { V7Generator } from 'uuidv7'

/** What an identifier stands for: the part before the underscore. */
export type IdPrefix =
  | 'ws'
  | 'usr'
  | 'tok'
  | 'inv'
  | 'zone'
  | 'rec'
  | 'tmpl'
  | 'prov'
  | 'dip'
  | 'dom'
  | 'con'
  | 'reg'
  | 'wdom'
  | 'srv'
  | 'vol'
  | 'fw'
  | 'snp'
  | 'act'
  | 'cloud'
  | 'cert'
  | 'tls'
  | 'mon'
  | 'inc'
  | 'mw'
  | 'page'
  | 'hb'
  | 'probe'
  | 'agent'
  | 'hook'
  | 'dep'
  | 'chan'
  | 'whe'
  | 'msg'
  | 'dlv'
  | 'att'
  | 'evt'
  | 'aud'
  | 'req'
  | 'job'
  | 'ses'
  | 'pkey'
  | 'flip'
  | 'use'
  | 'aus'
  | 'hub'
  | 'ntc'
  | 'rrset'
  | 'ztgt'
  | 'zchg'
  | 'plan'
  | 'tbnd'
  | 'tsig'
  | 'sec'
  | 'mtr'
  | 'iup'
  | 'ntf'
  | 'gap'

/** A TypeID (specification 0.3.0): prefix, underscore, a UUIDv7 as 26 characters of lower-case Crockford base32. */
export type Id<P extends IdPrefix = IdPrefix> = `${P}_${string}`

/**
 * A new TypeID. Identifiers of one OS thread grow strictly, even where many are made in a millisecond and where the
 * clock is set back, so that listing by id is listing by time of creation.
 */
export function newId<P extends IdPrefix>(prefix: P): Id<P> {
  return `${prefix}_${toBase32(uuids.generate().bytes)}`
}

/** Whether a text is a well-formed TypeID of this prefix. It says nothing about whether such a thing exists. */
export function isId<P extends IdPrefix>(text: string, prefix: P): text is Id<P> {
  const start = prefix.length + 1
  if (text.length !== start + 26 || text[start - 1] !== '_' || !text.startsWith(prefix)) return false
  // 26 characters hold 130 bits: above 7 the first one would overflow the 128 of a UUID.
  if (text.charCodeAt(start) > sevenCode) return false
  for (let at = start; at < text.length; at++) if (valueOf(text, at) < 0) return false
  return true
}

/**
 * The time held in a TypeID, in milliseconds since 1970.
 * It is the time of creation, unless the clock was set back meanwhile: then it is the highest time seen before.
 * @throws TypeError when the text does not end in the 26 characters of a TypeID.
 */
export function idTime(id: string): number {
  const start = id.length - 26
  if (start < 2 || id[start - 1] !== '_') throw new TypeError('Not an identifier.')
  // Two zero bits and the 48 bits of the time fill exactly the first ten characters.
  let time = 0
  for (let at = start; at < id.length; at++) {
    const value = valueOf(id, at)
    if (value < 0) throw new TypeError('Not an identifier.')
    if (at < start + 10) time = time * 32 + value
  }
  return time
}

/** The first identifier that a time (ms since 1970) can have: those made from then on are not before it. */
export function leastId<P extends IdPrefix>(prefix: P, time: number): Id<P> {
  const bytes = new Uint8Array(16)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(Math.max(0, Math.trunc(time))) << 16n)
  return `${prefix}_${toBase32(bytes)}`
}

/** A random UUID (version 4, RFC 9562 section 5.4) in its usual lower-case form: nothing can be read from it. */
export function newUuid4(): string {
  return crypto.randomUUID()
}

const uuids = new V7Generator()
// A clock set back must not let new rows sort before old ones: hold the last time and count on, however large the step.
uuids.setRollbackAllowance(2 ** 48 - 1)

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const sevenCode = '7'.charCodeAt(0)
const values = new Int8Array(128).fill(-1)
for (let value = 0; value < 32; value++) values[alphabet.charCodeAt(value)] = value

/** The 26 characters a TypeID ends in, from the 16 bytes of any UUID. */
export function toBase32(bytes: Readonly<Uint8Array>): string {
  let text = ''
  let pending = 0
  // The 128 bits are led by two zero bits, so that the 26 characters come out even.
  let bits = 2
  for (const byte of bytes) {
    pending = (pending << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += alphabet[pending >>> bits]
      pending &= (1 << bits) - 1
    }
  }
  return text
}

function valueOf(text: string, at: number): number {
  return values[text.charCodeAt(at)] ?? -1
}
