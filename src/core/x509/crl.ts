import { constants, verify, type KeyObject } from 'node:crypto'
import {
  childrenOf,
  contextTag,
  DerError,
  elementAt,
  expectTag,
  latin1,
  oidText,
  readDer,
  smallInteger,
  tags,
  timeOf,
  type Der,
} from './der'
import { algorithmName, authorityKeyIdOf, pointUrls, serialText } from './facts'
import { pssParametersOf, type PssParameters } from './pss'

/**
 * A certificate revocation list (RFC 5280 section 5). The lists of public CAs have up to some hundred thousand entries, so the entries stay
 * bytes: they are checked and searched step by step, and none becomes an object that is kept.
 */
export interface Crl {
  /** Name of the issuer as DER. */
  issuer: Uint8Array
  /** Key identifier of the issuer, in lowercase hexadecimal. Null if there is none. */
  authorityKeyId: string | null
  /** ms UTC. */
  thisUpdate: number
  nextUpdate: number
  /** Which certificates of the issuer it contains. */
  scope: 'all' | 'user' | 'ca'
  /** HTTP addresses that it is published at; empty if it doesn’t contain any. */
  urls: string[]
  /** The entries, one after another. */
  entries: Uint8Array
  signatureAlgorithm: string
  /** Null for other signature algorithms than RSASSA-PSS. */
  pss: PssParameters | null
  /** The part that is signed. */
  signed: Uint8Array
  signature: Uint8Array
}

/** Maximum size (bytes), as DER or PEM. */
export const maxCrlBytes = 10 * 1024 ** 2

/**
 * Reads a list in DER or PEM form, and checks all of its entries. Delta lists, indirect lists, and lists of some reasons only are refused.
 * The signature is checked by {@link isCrlSignedBy}. Works in steps.
 * @throws DerError with the rest of a sentence about the list
 */
export function* readCrl(bytes: Uint8Array): Generator<void, Crl> {
  if (bytes.length > maxCrlBytes) throw new DerError(`has more than ${maxCrlBytes} bytes.`)
  const der = bytes[0] === tags.sequence ? bytes : yield* derOfPem(bytes)
  const list = elementAt(der, 0, der.length)
  if (list.bytes.length !== der.length) throw new DerError('is followed by other data.')
  const [signed, algorithm, signature, ...rest] = childrenOf(expectTag(list, tags.sequence, 'content'), 4)
  if (rest.length > 0) throw new DerError('has data after its signature.')
  expectTag(signature, tags.bitString, 'signature')
  if (signature!.content[0] !== 0) throw new DerError('has no valid signature.')
  const fields = childrenOf(expectTag(signed, tags.sequence, 'content'), 8)
  // Version 1 has no version and no extensions.
  const versioned = fields[0]?.tag === tags.integer
  if (versioned && smallInteger(fields[0], 'version') !== 1) throw new DerError('has an unknown version.')
  const [ownAlgorithm, issuer, thisUpdate, nextUpdate, ...optional] = versioned ? fields.slice(1) : fields
  if (Buffer.compare(expectTag(ownAlgorithm, tags.sequence, 'signature algorithm').bytes, algorithm!.bytes) !== 0)
    throw new DerError('has two different signature algorithms.')
  const entries = optional[0]?.tag === tags.sequence ? optional.shift()!.content : new Uint8Array()
  const extensions = optional[0]?.tag === contextTag(0, true) ? optional.shift() : undefined
  if (optional.length > 0) throw new DerError('has fields that a revocation list doesn’t have.')
  const signatureAlgorithm = algorithmName(readDer(algorithm!.bytes))
  const crl: Crl = {
    issuer: readDer(expectTag(issuer, tags.sequence, 'issuer').bytes).bytes,
    thisUpdate: timeOf(thisUpdate, 'time of its update'),
    nextUpdate: timeOf(nextUpdate, 'time of its next update'),
    ...factsOfExtensions(extensions),
    entries,
    signatureAlgorithm,
    pss: signatureAlgorithm === 'rsassaPss' ? pssParametersOf(algorithm!) : null,
    signed: signed!.bytes,
    signature: signature!.content.subarray(1),
  }
  yield
  yield* checkEntries(entries)
  return crl
}

const pemLabel = 'X509 CRL'
const charactersPerStep = 256 * 1024

/** Decodes PEM step by step: 10 MiB at once block for 50 ms. */
function* derOfPem(bytes: Uint8Array): Generator<void, Uint8Array> {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const begin = all.indexOf(`-----BEGIN ${pemLabel}-----`)
  const end = all.indexOf(`-----END ${pemLabel}-----`)
  if (begin < 0 || end < begin) throw new DerError('is neither DER nor PEM with a revocation list.')
  const parts: Uint8Array[] = []
  let rest = ''
  for (let at = begin + pemLabel.length + 16; at < end; at += charactersPerStep) {
    const text = rest + latin1(all.subarray(at, Math.min(end, at + charactersPerStep))).replaceAll(/\s+/g, '')
    if (/[^A-Za-z0-9+/=]/.test(text)) throw new DerError('is not valid PEM.')
    const whole = text.length - (text.length % 4)
    parts.push(Buffer.from(text.slice(0, whole), 'base64'))
    rest = text.slice(whole)
    yield
  }
  return Buffer.concat(parts)
}

const oids = {
  reason: '2.5.29.21',
  invalidityDate: '2.5.29.24',
  number: '2.5.29.20',
  issuerAltName: '2.5.29.18',
  delta: '2.5.29.27',
  issuingDistributionPoint: '2.5.29.28',
  authorityKeyId: '2.5.29.35',
}
/** Extensions that are understood. Others may be there if they are not critical. */
const known = new Set(Object.values(oids))

function factsOfExtensions(element: Der | undefined): Pick<Crl, 'authorityKeyId' | 'scope' | 'urls'> {
  const values = element ? extensionsOf(childrenOf(element, 1)[0]) : new Map<string, Uint8Array>()
  if (values.has(oids.delta)) throw new DerError('contains only changes of another revocation list.')
  const keyId = values.get(oids.authorityKeyId)
  const point = values.get(oids.issuingDistributionPoint)
  return { authorityKeyId: keyId ? authorityKeyIdOf(readDer(keyId)) : null, ...(point ? scopeOf(readDer(point)) : wholeScope) }
}

const wholeScope: Pick<Crl, 'scope' | 'urls'> = { scope: 'all', urls: [] }

/** IssuingDistributionPoint (RFC 5280 section 5.2.5). */
function scopeOf(value: Der): Pick<Crl, 'scope' | 'urls'> {
  const parts = childrenOf(expectTag(value, tags.sequence, 'issuing distribution point'), 6)
  const isSet = (number: number) => parts.some(one => one.tag === contextTag(number, false) && one.content[0] !== 0)
  if (isSet(4)) throw new DerError('is an indirect revocation list, which contains certificates of several issuers.')
  if (isSet(3)) throw new DerError('contains only certificates that were revoked for certain reasons.')
  if (isSet(5)) throw new DerError('contains only attribute certificates.')
  return { scope: isSet(1) ? 'user' : isSet(2) ? 'ca' : 'all', urls: pointUrls(value).slice(0, maxUrls) }
}

const maxUrls = 100
const maxExtensions = 100

/** Values by object identifier. @throws DerError if a critical one is unknown (RFC 5280 section 5.2) */
function extensionsOf(list: Der | undefined): Map<string, Uint8Array> {
  const values = new Map<string, Uint8Array>()
  const { bytes } = expectTag(list, tags.sequence, 'extensions')
  for (const one of childrenOf(readDer(bytes), maxExtensions)) {
    const parts = childrenOf(expectTag(one, tags.sequence, 'extensions'), 3)
    const oid = oidText(parts[0], 'extensions')
    const isCritical = parts.length === 3 && expectTag(parts[1], tags.boolean, 'extensions').content[0] !== 0
    if (isCritical && !known.has(oid)) throw new DerError(`has the unknown critical extension ${oid}.`)
    values.set(oid, expectTag(parts.at(-1), tags.octetString, 'extensions').content)
  }
  return values
}

const entriesPerStep = 200

function* checkEntries(entries: Uint8Array): Generator<void, void> {
  let steps = 0
  for (let at = 0; at < entries.length;) {
    const entry = elementAt(entries, at, entries.length)
    serialText(serialElement(entry))
    readEntry(entry)
    at += entry.bytes.length
    if (++steps % entriesPerStep === 0) yield
  }
}

const serialElement = ({ tag, content }: Der): Der => {
  if (tag !== tags.sequence) throw new DerError('has an entry that is not valid.')
  return elementAt(content, 0, content.length)
}

/** An entry of a list. */
export interface CrlEntry {
  /** ms UTC. */
  revokedAt: number
  /** Such as `key_compromise`. Null if none was given. */
  reason: string | null
}

function readEntry(entry: Der): CrlEntry {
  const [, time, list, ...rest] = childrenOf(entry, 4)
  if (rest.length > 0) throw new DerError('has an entry that is not valid.')
  const reason = list ? extensionsOf(list).get(oids.reason) : undefined
  return { revokedAt: timeOf(time, 'time of a revocation'), reason: reason ? reasonOf(readDer(reason)) : null }
}

/** CRLReason (RFC 5280 section 5.3.1): an ENUMERATED. */
function reasonOf({ tag, content }: Der): string | null {
  if (tag !== 0x0a || content.length !== 1) throw new DerError('has an entry with an invalid reason.')
  return reasons[content[0]!] ?? null
}

const reasons: Readonly<Record<number, string>> = {
  0: 'unspecified',
  1: 'key_compromise',
  2: 'ca_compromise',
  3: 'affiliation_changed',
  4: 'superseded',
  5: 'cessation_of_operation',
  6: 'certificate_hold',
  8: 'remove_from_crl',
  9: 'privilege_withdrawn',
  10: 'aa_compromise',
}

/**
 * Searches entries that were checked. Works in steps.
 * @param serial in lowercase hexadecimal, two digits a byte, without leading zero bytes
 * @returns null if it is not among them
 */
export function* findCrlEntry(entries: Uint8Array, serial: string): Generator<void, CrlEntry | null> {
  const wanted = Buffer.from(serial, 'hex')
  let steps = 0
  for (let at = 0; at < entries.length;) {
    const entry = elementAt(entries, at, entries.length)
    const { content } = serialElement(entry)
    const start = content[0] === 0 && content.length > 1 ? 1 : 0
    // Almost all differ in the last byte.
    if (content.at(-1) === wanted.at(-1) && wanted.equals(content.subarray(start))) return readEntry(entry)
    at += entry.bytes.length
    if (++steps % entriesPerStep === 0) yield
  }
  return null
}

/**
 * Sorts entries into buckets by the last byte of their serial number, so that a search needs only one. Works in steps.
 * @returns the entries of each bucket
 */
export function* splitCrlEntries(entries: Uint8Array, buckets: number): Generator<void, Uint8Array[]> {
  const sizes = new Uint32Array(buckets)
  let parts: Uint8Array[] = []
  // The first round measures them, and the second one copies them.
  for (const isCopying of [false, true]) {
    let steps = 0
    const filled = new Uint32Array(buckets)
    for (let at = 0; at < entries.length;) {
      const entry = elementAt(entries, at, entries.length)
      const bucket = serialElement(entry).content.at(-1)! % buckets
      if (isCopying) parts[bucket]!.set(entry.bytes, filled[bucket])
      filled[bucket]! += entry.bytes.length
      at += entry.bytes.length
      if (++steps % entriesPerStep === 0) yield
    }
    if (!isCopying) {
      sizes.set(filled)
      parts = Array.from(sizes, size => new Uint8Array(size))
    }
  }
  return parts
}

/** The bucket that a serial number is in. */
export const crlBucketOf = (serial: string, buckets: number): number => parseInt(serial.slice(-2), 16) % buckets

/** Hashes by signature algorithm; null where the algorithm includes one. Weaker hashes are not accepted. */
function hashOf(algorithm: string): string | null | undefined {
  if (algorithm === 'Ed25519' || algorithm === 'Ed448') return null
  const bits = /^sha(256|384|512)WithRSAEncryption$|^ecdsa-with-SHA(256|384|512)$/.exec(algorithm)
  return bits ? `sha${bits[1] ?? bits[2]}` : undefined
}

/** Whether a key signed a list. Runs in another thread. @throws DerError if the signature algorithm is not supported */
export async function isCrlSignedBy({ signatureAlgorithm, pss, signed, signature }: Crl, key: KeyObject): Promise<boolean> {
  const hash = pss ? pss.hash : hashOf(signatureAlgorithm)
  if (hash === undefined) throw new DerError(`is signed with ${signatureAlgorithm}, which is not supported.`)
  const how = pss ? { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: pss.saltLength } : key
  return await new Promise(resolve => {
    try {
      verify(hash, signed, how, signature, (error, isValid) => resolve(!error && isValid))
    } catch {
      // The key is of another type.
      resolve(false)
    }
  })
}
