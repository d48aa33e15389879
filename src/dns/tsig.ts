import { createHmac, timingSafeEqual, type Hmac } from 'node:crypto'
import { DnsFormatError, ofField } from './format-error'
import { CLASS } from './message'
import { lowerName, parseName, sameName, wireLength } from './name'
import { base64Octets } from './octets'
import { TSIG_CODE, type TsigRecord } from './tsig-record'
import { WireWriter } from './wire-writer'

/** SHA algorithms of RFC 8945 section 6, and HMAC-MD5 for devices that support nothing else. */
export const tsigAlgorithms = ['hmac-sha1', 'hmac-sha224', 'hmac-sha256', 'hmac-sha384', 'hmac-sha512', 'hmac-md5'] as const
export type TsigAlgorithm = (typeof tsigAlgorithms)[number]

export interface TsigKey {
  /** An absolute name. */
  readonly name: string
  readonly algorithm: TsigAlgorithm
  readonly secret: Uint8Array
  /**
   * HMAC-MD5 must not be used (RFC 8945 section 6), so such a key neither signs nor verifies unless its owner allowed it here.
   */
  readonly allowMd5?: boolean
}

/**
 * Parses a key as entered by people. HMAC-MD5 is allowed, since it was chosen explicitly.
 * @param secret in base64
 * @throws DnsFormatError of the field `name` or `secret`
 */
export function readTsigKey(key: { name: string; algorithm: TsigAlgorithm; secret: string }): TsigKey {
  const name = ofField('name', 'RFC 8945 4.2', () => lowerName(parseName(key.name, '.')))
  const secret = ofField('secret', 'RFC 4648 4', () => base64Octets(key.secret.trim()))
  if (secret.length === 0) throw new DnsFormatError('must not be empty', 'secret', 'RFC 8945 4.2')
  return { name, algorithm: key.algorithm, secret, allowMd5: key.algorithm === 'hmac-md5' }
}

/** TSIG error codes (RFC 8945 section 3), in their own field; the RCODE of the message is NOTAUTH. */
export const TSIG_ERROR = { BADSIG: 16, BADKEY: 17, BADTIME: 18, BADTRUNC: 22 } as const

/** Allowed clock difference in seconds (RFC 8945 section 10). */
const FUDGE = 300

const ALGORITHMS: Record<TsigAlgorithm, { wire: string; hash: string; octets: number }> = {
  'hmac-md5': { wire: 'hmac-md5.sig-alg.reg.int.', hash: 'md5', octets: 16 },
  'hmac-sha1': { wire: 'hmac-sha1.', hash: 'sha1', octets: 20 },
  'hmac-sha224': { wire: 'hmac-sha224.', hash: 'sha224', octets: 28 },
  'hmac-sha256': { wire: 'hmac-sha256.', hash: 'sha256', octets: 32 },
  'hmac-sha384': { wire: 'hmac-sha384.', hash: 'sha384', octets: 48 },
  'hmac-sha512': { wire: 'hmac-sha512.', hash: 'sha512', octets: 64 },
}

interface Signing {
  /** Seconds since 1970; in a BADTIME response, the time of the request. */
  time: number
  fudge?: number
  /** MAC of the request, or of the previous message of a transfer. */
  prior?: Uint8Array
  /** For messages of a transfer after the first (RFC 8945 section 5.3.1). */
  timersOnly?: boolean
  /** Unsigned messages since the last signed one. */
  unsigned?: readonly Uint8Array[]
  /** TSIG error code, in responses to requests that could not be verified. */
  error?: number
  /** Server time in seconds since 1970, in a BADTIME response (RFC 8945 section 5.2.3). */
  serverTime?: number
}

/** Number of octets that a signature with this key adds to a message. */
export function tsigLength(key: TsigKey): number {
  const { wire, octets } = ALGORITHMS[key.algorithm]
  return wireLength(key.name) + 10 + wireLength(wire) + 16 + octets
}

/**
 * Adds a TSIG record to an encoded message (RFC 8945 section 5.3).
 * @returns the signed message and its MAC, which the signature of the response covers
 * @throws DnsFormatError for an MD5 key that is not allowed, or if the message gets too long
 */
export function signTsig(message: Uint8Array, key: TsigKey, signing: Signing): { message: Uint8Array; mac: Uint8Array } {
  if (!mayUse(key)) throw new DnsFormatError('The key must not use HMAC-MD5', null, 'RFC 8945 6')
  const { wire, hash } = ALGORITHMS[key.algorithm]
  const error = signing.error ?? 0
  const other = signing.serverTime === undefined ? new Uint8Array() : sixOctets(signing.serverTime)
  const record: Signed = {
    key: key.name,
    algorithm: wire,
    timeSigned: signing.time,
    fudge: signing.fudge ?? FUDGE,
    originalId: (message[0]! << 8) | message[1]!,
    error,
    other,
  }
  const mac = new Uint8Array(digest(createHmac(hash, key.secret), message, record, signing).digest())
  return { message: appended(message, record, mac), mac }
}

/** Adds a TSIG record without a MAC, for responses to an unknown key or a wrong MAC (RFC 8945 section 5.3.2). */
export function refuseTsig(message: Uint8Array, request: TsigRecord, error: number): Uint8Array {
  const record = { ...request, originalId: (message[0]! << 8) | message[1]!, error, other: new Uint8Array() }
  return appended(message, record, new Uint8Array())
}

interface Verifying {
  /** Seconds since 1970. */
  now: number
  prior?: Uint8Array
  timersOnly?: boolean
  /** Unsigned messages received since the last signed one (RFC 8945 section 5.3.1). */
  unsigned?: readonly Uint8Array[]
}

/**
 * Result of a verification: the key and the MAC, or the TSIG error for the response. `malformed`: the MAC has a forbidden length, so the
 * response is FORMERR instead (RFC 8945 section 5.2.2.1).
 */
export type Verdict =
  { ok: true; key: TsigKey; mac: Uint8Array } | { ok: false; error: number; key: TsigKey | null; malformed?: true }

/**
 * Verifies the TSIG record of a message in the order of RFC 8945 section 5.2: key, MAC, time, truncation.
 * @param octets the message as received
 * @param record its TSIG record, as returned by `decodeMessage`
 */
export function verifyTsig(octets: Uint8Array, record: TsigRecord, keys: readonly TsigKey[], verifying: Verifying): Verdict {
  const key = keys.find(
    one => mayUse(one) && sameName(one.name, record.key) && sameName(ALGORITHMS[one.algorithm].wire, record.algorithm),
  )
  if (!key) return { ok: false, error: TSIG_ERROR.BADKEY, key: null }
  const { hash, octets: full } = ALGORITHMS[key.algorithm]
  const receivedMac = record.mac
  if (receivedMac.length > full || receivedMac.length < Math.max(10, Math.ceil(full / 2)))
    return { ok: false, error: TSIG_ERROR.BADSIG, key, malformed: true }
  const bare = withoutTsig(octets, record)
  const mac = digest(createHmac(hash, key.secret), bare, record, verifying).digest().subarray(0, receivedMac.length)
  if (!timingSafeEqual(mac, receivedMac)) return { ok: false, error: TSIG_ERROR.BADSIG, key }
  if (Math.abs(verifying.now - record.timeSigned) > record.fudge) return { ok: false, error: TSIG_ERROR.BADTIME, key }
  // No known peer truncates MACs, so a truncated one is an attempt to weaken the check (RFC 8945 section 5.2.4).
  if (receivedMac.length < full) return { ok: false, error: TSIG_ERROR.BADTRUNC, key }
  return { ok: true, key, mac: receivedMac }
}

/** Signs the messages of a response in order: the first with the complete record, the others only with its times. */
export function transferSigner(key: TsigKey, request: Uint8Array): (message: Uint8Array, time: number) => Uint8Array {
  let prior = request
  let timersOnly = false
  return (message, time) => {
    const signed = signTsig(message, key, { time, prior, timersOnly })
    prior = signed.mac
    timersOnly = true
    return signed.message
  }
}

/** Maximum number of messages of a transfer without a signature (RFC 8945 section 5.3.1). */
export const UNSIGNED_MAX = 99

/**
 * Verifies the messages of a response in order. Pass every message, and call `end` after the last: a transfer is only verified if its
 * last message is signed (RFC 8945 section 5.3.1).
 * @param mac MAC of the request
 */
export function transferVerifier(key: TsigKey, mac: Uint8Array) {
  let prior = mac
  let timersOnly = false
  let unsigned: Uint8Array[] = []
  const refused = (): Verdict => ({ ok: false, error: TSIG_ERROR.BADSIG, key })
  return {
    next(octets: Uint8Array, record: TsigRecord | null, now: number): Verdict {
      if (record === null) {
        // The first message must be signed, and then at least every hundredth.
        if (!timersOnly || unsigned.length >= UNSIGNED_MAX) return refused()
        unsigned.push(octets)
        return { ok: true, key, mac: prior }
      }
      const verdict = verifyTsig(octets, record, [key], { now, prior, timersOnly, unsigned })
      if (!verdict.ok) return verdict
      prior = verdict.mac
      timersOnly = true
      unsigned = []
      return verdict
    },
    end: (): Verdict => (timersOnly && unsigned.length === 0 ? { ok: true, key, mac: prior } : refused()),
  }
}

type Signed = Omit<TsigRecord, 'mac' | 'at'>

const mayUse = (key: TsigKey) => key.algorithm !== 'hmac-md5' || key.allowMd5 === true

/** The digested data (RFC 8945 section 4.3): the previous MAC, the message without its TSIG record, and the TSIG variables. */
function digest(
  hmac: Hmac,
  message: Uint8Array,
  record: Signed,
  { prior, timersOnly, unsigned }: Pick<Signing, 'prior' | 'timersOnly' | 'unsigned'>,
): Hmac {
  const writer = new WireWriter()
  if (prior) {
    writer.u16(prior.length)
    writer.octets(prior)
    hmac.update(writer.finish())
    writer.rewind(0)
  }
  for (const one of unsigned ?? []) hmac.update(one)
  hmac.update(message)
  if (!timersOnly) {
    writer.name(lowerName(record.key))
    writer.u16(CLASS.ANY)
    writer.u32(0)
    writer.name(lowerName(record.algorithm))
  }
  writer.u48(record.timeSigned)
  writer.u16(record.fudge)
  if (!timersOnly) {
    writer.u16(record.error)
    writer.u16(record.other.length)
    writer.octets(record.other)
  }
  return hmac.update(writer.finish())
}

function appended(message: Uint8Array, record: Signed, mac: Uint8Array): Uint8Array {
  const writer = new WireWriter(message.length + 128)
  writer.octets(message)
  writer.name(record.key)
  writer.u16(TSIG_CODE)
  writer.u16(CLASS.ANY)
  writer.u32(0)
  const size = writer.offset
  writer.u16(0)
  writer.name(record.algorithm)
  writer.u48(record.timeSigned)
  writer.u16(record.fudge)
  writer.u16(mac.length)
  writer.octets(mac)
  writer.u16(record.originalId)
  writer.u16(record.error)
  writer.u16(record.other.length)
  writer.octets(record.other)
  writer.u16At(size, writer.offset - size - 2)
  writer.u16At(10, ((message[10]! << 8) | message[11]!) + 1)
  if (writer.offset > 0xffff) throw new DnsFormatError('A signed message must be at most 65535 octets', null, 'RFC 1035 4.2.2')
  return writer.finish()
}

/** The message as it was signed: without the record, and with its original id. */
function withoutTsig(octets: Uint8Array, record: TsigRecord): Uint8Array {
  const writer = new WireWriter(record.at)
  writer.octets(octets.subarray(0, record.at))
  writer.u16At(0, record.originalId)
  writer.u16At(10, ((octets[10]! << 8) | octets[11]!) - 1)
  return writer.finish()
}

function sixOctets(value: number): Uint8Array {
  const writer = new WireWriter(6)
  writer.u48(value)
  return writer.finish()
}
