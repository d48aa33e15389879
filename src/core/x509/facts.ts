import { formatAddress, parseAddress } from '../net/address'
import { sha256Hex } from '../crypto'
import {
  bitsOf,
  childrenOf,
  contextTag,
  DerError,
  encodeDer,
  expectTag,
  integerBytes,
  latin1,
  oidText,
  readDer,
  smallInteger,
  tags,
  timeOf,
  type Der,
} from './der'

/** What a certificate contains that the runtime’s X509Certificate does not tell, or not in a form that can be relied on (RFC 5280). */
export interface X509Facts {
  /** Serial number: lowercase hexadecimal, two digits a byte, without leading zero bytes. */
  serial: string
  /** Name of the signature algorithm, such as `sha256WithRSAEncryption`, or its object identifier. */
  signatureAlgorithm: string
  /** The names as DER: two certificates with equal bytes have the same name. */
  issuer: Uint8Array
  subject: Uint8Array
  commonName: string | null
  /** ms UTC. */
  notBefore: number
  notAfter: number
  /** Subject alternative names, at most `maxNames` of both kinds together. DNS names are in lower case. */
  dnsNames: string[]
  ipAddresses: string[]
  /** Null if there is no such extension. */
  keyUsage: string[] | null
  extendedKeyUsage: string[] | null
  basicConstraints: { isCa: boolean; pathLength: number | null } | null
  /** Lowercase hexadecimal. Null if there is none. */
  authorityKeyId: string | null
  subjectKeyId: string | null
  /** Addresses of certificate revocation lists, HTTP ones only. */
  crlUrls: string[]
  /** Object identifiers of certificate policies. */
  policies: string[]
  /** Whether the TLS feature `status_request` is required (RFC 7633). */
  mustStaple: boolean
  /** Signed certificate timestamps in the certificate (RFC 6962). */
  sctCount: number
  /** Whether it is a precertificate (RFC 6962 section 3.1). */
  isPrecertificate: boolean
  /**
   * SHA-256 of TBSCertificate without the list of SCTs and without the poison extension, in lowercase hexadecimal: the same for a
   * precertificate and the certificate that is issued for it. certspotter calls it `TBS_SHA256`.
   */
  tbsSha256: string
}

/** At most this many names of a certificate are read. Let’s Encrypt allows 100. */
export const maxNames = 10_000
const maxUrls = 10
const maxExtensions = 200

/**
 * Parses a certificate in DER form.
 * @throws DerError with the rest of a sentence about the certificate, such as `has no valid serial number.`
 */
export function x509Facts(der: Uint8Array): X509Facts {
  const [tbs, algorithm, signature, ...rest] = childrenOf(expectTag(readDer(der), tags.sequence, 'content'), 4)
  expectTag(signature, tags.bitString, 'signature')
  if (rest.length > 0) throw new DerError('has data after its signature.')
  const fields = childrenOf(expectTag(tbs, tags.sequence, 'content'), 12)
  const versioned = fields[0]?.tag === contextTag(0, true)
  const [serial, ownAlgorithm, issuer, validity, subject, key, ...optional] = versioned ? fields.slice(1) : fields
  if (versioned && smallInteger(childrenOf(fields[0]!, 1)[0], 'version') > 2) throw new DerError('has an unknown version.')
  const [notBefore, notAfter] = childrenOf(expectTag(validity, tags.sequence, 'validity period'), 3)
  expectTag(key, tags.sequence, 'public key')
  if (Buffer.compare(expectTag(ownAlgorithm, tags.sequence, 'signature algorithm').bytes, algorithm!.bytes) !== 0)
    throw new DerError('has two different signature algorithms.')
  const extensions = extensionsOf(optional)
  return {
    serial: serialText(serial),
    signatureAlgorithm: algorithmName(algorithm!),
    issuer: expectTag(issuer, tags.sequence, 'issuer').bytes,
    subject: expectTag(subject, tags.sequence, 'subject').bytes,
    commonName: commonNameOf(subject!),
    notBefore: timeOf(notBefore, 'validity period'),
    notAfter: timeOf(notAfter, 'validity period'),
    ...factsOfExtensions(extensions),
    tbsSha256: sha256Hex(withoutTimestamps(fields, extensions)),
  }
}

/** The subject of a certificate as DER, without reading the rest. @throws DerError */
export function subjectOf(der: Uint8Array): Uint8Array {
  const [tbs] = childrenOf(readDer(der))
  const fields = childrenOf(expectTag(tbs, tags.sequence, 'content'), 12)
  return expectTag(fields[fields[0]?.tag === contextTag(0, true) ? 5 : 4], tags.sequence, 'subject').bytes
}

interface Extension {
  oid: string
  /** The whole extension, and its value. */
  bytes: Uint8Array
  value: Uint8Array
}

function extensionsOf(optional: readonly Der[]): Extension[] {
  const list = optional.find(one => one.tag === contextTag(3, true))
  if (!list) return []
  const [extensions, ...more] = childrenOf(list, 2)
  if (more.length > 0) throw new DerError('has no valid extensions.')
  const seen = new Set<string>()
  return childrenOf(expectTag(extensions, tags.sequence, 'extensions'), maxExtensions).map(one => {
    const parts = childrenOf(expectTag(one, tags.sequence, 'extensions'), 3)
    const oid = oidText(parts[0], 'extensions')
    // RFC 5280 section 4.2.
    if (seen.has(oid)) throw new DerError(`has the extension ${oid} twice.`)
    seen.add(oid)
    return { oid, bytes: one.bytes, value: expectTag(parts.at(-1), tags.octetString, 'extensions').content }
  })
}

const oids = {
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  crlDistributionPoints: '2.5.29.31',
  policies: '2.5.29.32',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  tlsFeature: '1.3.6.1.5.5.7.1.24',
  timestamps: '1.3.6.1.4.1.11129.2.4.2',
  poison: '1.3.6.1.4.1.11129.2.4.3',
}

function factsOfExtensions(extensions: readonly Extension[]) {
  const values = new Map(extensions.map(one => [one.oid, one.value]))
  const read = <T>(oid: string, parse: (value: Der) => T): T | null => {
    const value = values.get(oid)
    return value === undefined ? null : parse(readDer(value))
  }
  const names = read(oids.subjectAltName, alternativeNames)
  const timestamps = read(oids.timestamps, value => countTimestamps(expectTag(value, tags.octetString, 'list of SCTs').content))
  return {
    dnsNames: names?.dns ?? [],
    ipAddresses: names?.ip ?? [],
    keyUsage: read(oids.keyUsage, value => bitsOf(value, 'key usage').flatMap(bit => keyUsages[bit] ?? [])),
    extendedKeyUsage: read(oids.extendedKeyUsage, value =>
      childrenOf(expectTag(value, tags.sequence, 'extended key usage'), 100).map(one => {
        const oid = oidText(one, 'extended key usage')
        return extendedKeyUsages[oid] ?? oid
      }),
    ),
    basicConstraints: read(oids.basicConstraints, basicConstraints),
    authorityKeyId: read(oids.authorityKeyId, authorityKeyIdOf),
    subjectKeyId: read(oids.subjectKeyId, value => keyId(expectTag(value, tags.octetString, 'subject key identifier').content)),
    crlUrls: read(oids.crlDistributionPoints, crlUrls) ?? [],
    policies:
      read(oids.policies, value =>
        childrenOf(expectTag(value, tags.sequence, 'policies'), 100).map(one => oidText(childrenOf(one, 2)[0], 'policies')),
      ) ?? [],
    mustStaple:
      read(oids.tlsFeature, value =>
        childrenOf(expectTag(value, tags.sequence, 'TLS feature'), 100).some(
          // 5 is status_request.
          one => smallInteger(one, 'TLS feature') === 5,
        ),
      ) ?? false,
    sctCount: timestamps ?? 0,
    isPrecertificate: values.has(oids.poison),
  }
}

const keyUsages = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
]
const extendedKeyUsages: Readonly<Record<string, string>> = {
  '2.5.29.37.0': 'anyExtendedKeyUsage',
  '1.3.6.1.5.5.7.3.1': 'serverAuth',
  '1.3.6.1.5.5.7.3.2': 'clientAuth',
  '1.3.6.1.5.5.7.3.3': 'codeSigning',
  '1.3.6.1.5.5.7.3.4': 'emailProtection',
  '1.3.6.1.5.5.7.3.8': 'timeStamping',
  '1.3.6.1.5.5.7.3.9': 'OCSPSigning',
}

const keyId = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, 64)).toString('hex')

/** The key identifier in the value of the extension `authorityKeyIdentifier`. @throws DerError */
export function authorityKeyIdOf(value: Der): string | null {
  const id = childrenOf(expectTag(value, tags.sequence, 'authority key identifier'), 4).find(
    one => one.tag === contextTag(0, false),
  )
  return id ? keyId(id.content) : null
}

function basicConstraints(value: Der): X509Facts['basicConstraints'] {
  const [first, second] = childrenOf(expectTag(value, tags.sequence, 'basic constraints'), 2)
  const flag = first?.tag === tags.boolean ? first.content : null
  if (flag && (flag.length !== 1 || (flag[0] !== 0xff && flag[0] !== 0))) throw new DerError('has no valid basic constraints.')
  const length = flag ? second : first
  return { isCa: flag?.[0] === 0xff, pathLength: length ? smallInteger(length, 'basic constraints') : null }
}

function alternativeNames(value: Der): { dns: string[]; ip: string[] } {
  const dns: string[] = []
  const ip: string[] = []
  for (const one of childrenOf(expectTag(value, tags.sequence, 'subject alternative names'), maxDerElements)) {
    if (dns.length + ip.length >= maxNames) break
    if (one.tag === contextTag(2, false)) dns.push(printable(latin1(one.content)).toLowerCase())
    else if (one.tag === contextTag(7, false)) ip.push(ipText(one.content))
  }
  return { dns, ip }
}

/** As many as fit into the maximum size. */
const maxDerElements = 32_768

/** RFC 5280 section 4.2.1.6: four or sixteen bytes. */
function ipText(content: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, at) => ((content[at * 2]! << 8) | content[at * 2 + 1]!).toString(16))
  const text = content.length === 4 ? content.join('.') : content.length === 16 ? groups.join(':') : ''
  const address = parseAddress(text)
  if (!address) throw new DerError('has no valid subject alternative names.')
  return formatAddress(address)
}

function crlUrls(value: Der): string[] {
  const urls: string[] = []
  for (const point of childrenOf(expectTag(value, tags.sequence, 'CRL distribution points'), 100)) urls.push(...pointUrls(point))
  return urls.slice(0, maxUrls)
}

/** HTTP addresses in the `distributionPoint` of a sequence. @throws DerError */
export function pointUrls(point: Der): string[] {
  const name = childrenOf(point, 10).find(one => one.tag === contextTag(0, true))
  const full = name ? childrenOf(name, 1).find(one => one.tag === contextTag(0, true)) : undefined
  return (full ? childrenOf(full, 100) : []).flatMap(one => {
    const url = one.tag === contextTag(6, false) ? printable(latin1(one.content)) : ''
    return /^https?:\/\//i.test(url) && url.length <= 2000 ? [url] : []
  })
}

/** SignedCertificateTimestampList (RFC 6962 section 3.3): a length of two bytes, then SCTs, each with a length of two bytes. */
function countTimestamps(list: Uint8Array): number {
  const uint16 = (at: number) => (list[at]! << 8) | list[at + 1]!
  if (list.length < 2 || uint16(0) !== list.length - 2) throw new DerError('has no valid list of SCTs.')
  let count = 0
  for (let at = 2; at < list.length; count++) {
    if (at + 2 > list.length) throw new DerError('has no valid list of SCTs.')
    at += 2 + uint16(at)
    if (at > list.length) throw new DerError('has no valid list of SCTs.')
  }
  return count
}

/** RFC 5280 section 4.1.2.2: positive, at most 20 bytes. Zero and a few more bytes are common enough in private CAs. @throws DerError */
export function serialText(serial: Der | undefined): string {
  const content = integerBytes(serial, 'serial number')
  if (content[0]! >= 0x80) throw new DerError('has a negative serial number.')
  if (content.length > 64) throw new DerError('has a serial number of more than 64 bytes.')
  return Buffer.from(content[0] === 0 && content.length > 1 ? content.subarray(1) : content).toString('hex')
}

/** The last common name of a subject, as browsers and OpenSSL take it. */
function commonNameOf(subject: Der): string | null {
  let found: string | null = null
  for (const set of childrenOf(subject, 100)) {
    for (const attribute of childrenOf(expectTag(set, tags.set, 'subject'), 100)) {
      const [oid, value] = childrenOf(expectTag(attribute, tags.sequence, 'subject'), 2)
      if (oidText(oid, 'subject') === '2.5.4.3' && value) found = printable(directoryText(value)).slice(0, 200)
    }
  }
  return found
}

/** DirectoryString (RFC 5280 section 4.1.2.4). */
function directoryText({ tag, content }: Der): string {
  const bytes = Buffer.from(content)
  if (tag === 0x1e) return bytes.length % 2 === 0 ? bytes.swap16().toString('utf16le') : ''
  return bytes.toString(tag === 0x0c ? 'utf8' : 'latin1')
}

/** Names can contain anything. Texts that are stored and shown contain no control characters. */
const printable = (text: string): string => text.replaceAll(/\p{C}+/gu, ' ').trim()

/** TBSCertificate without the extensions that differ between a precertificate and its certificate. */
function withoutTimestamps(fields: readonly Der[], extensions: readonly Extension[]): Uint8Array {
  const kept = extensions.filter(one => one.oid !== oids.timestamps && one.oid !== oids.poison)
  const list = encodeDer(contextTag(3, true), encodeDer(tags.sequence, ...kept.map(one => one.bytes)))
  return encodeDer(tags.sequence, ...fields.map(one => (one.tag === contextTag(3, true) ? list : one.bytes)))
}

/** The name of an AlgorithmIdentifier, or its object identifier. @throws DerError */
export function algorithmName(algorithm: Der): string {
  const oid = oidText(childrenOf(expectTag(algorithm, tags.sequence, 'signature algorithm'), 2)[0], 'signature algorithm')
  return signatureAlgorithms[oid] ?? oid
}

const signatureAlgorithms: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.2': 'md2WithRSAEncryption',
  '1.2.840.113549.1.1.4': 'md5WithRSAEncryption',
  '1.2.840.113549.1.1.5': 'sha1WithRSAEncryption',
  '1.2.840.113549.1.1.10': 'rsassaPss',
  '1.2.840.113549.1.1.11': 'sha256WithRSAEncryption',
  '1.2.840.113549.1.1.12': 'sha384WithRSAEncryption',
  '1.2.840.113549.1.1.13': 'sha512WithRSAEncryption',
  '1.2.840.113549.1.1.14': 'sha224WithRSAEncryption',
  '1.2.840.10040.4.3': 'dsa-with-SHA1',
  '2.16.840.1.101.3.4.3.2': 'dsa-with-SHA256',
  '1.2.840.10045.4.1': 'ecdsa-with-SHA1',
  '1.2.840.10045.4.3.1': 'ecdsa-with-SHA224',
  '1.2.840.10045.4.3.2': 'ecdsa-with-SHA256',
  '1.2.840.10045.4.3.3': 'ecdsa-with-SHA384',
  '1.2.840.10045.4.3.4': 'ecdsa-with-SHA512',
  '1.3.101.112': 'Ed25519',
  '1.3.101.113': 'Ed448',
  '2.16.840.1.101.3.4.3.17': 'ML-DSA-44',
  '2.16.840.1.101.3.4.3.18': 'ML-DSA-65',
  '2.16.840.1.101.3.4.3.19': 'ML-DSA-87',
}
