import { X509Certificate } from 'node:crypto'
import { formatAddress, parseAddress } from '../core/net/address'
import type { CertificateFacts } from './check'

/** A certificate as X509Certificate or a TLS socket returns it, the latter with its issuers. */
export interface PresentedCertificate {
  /** Hexadecimal SHA-256 of its DER form, with colons. */
  readonly fingerprint256: string
  readonly raw: Uint8Array
  /** For a self-signed certificate this may be the same object. */
  readonly issuerCertificate?: PresentedCertificate | undefined
}

/**
 * Returns the facts of a server's certificate. The chain expiry covers the certificates below the root: the client uses its own root
 * whether or not the server sends one, and path validation ignores its validity (RFC 5280 section 6.1, RFC 8446 section 4.4.2).
 * Expired certificates in a chain that is trusted anyway are ignored too: another path was used, for example with a cross-signed CA
 * (RFC 5280 section 3.2).
 * @param leaf the server's certificate, linked to its issuers
 * @param trustedAt when the chain was verified (ms UTC); null if it is not trusted
 */
export function certificateFacts(leaf: PresentedCertificate, trustedAt: number | null = null): CertificateFacts {
  const parsed = parseCertificate(leaf)
  let chain_not_after = parsed.not_after
  let at = leaf.issuerCertificate
  for (let length = 1; at && length < maxChainLength; length++) {
    const { root, not_after } = parseCertificate(at)
    if (root) break
    if (trustedAt === null || not_after > trustedAt) chain_not_after = Math.min(chain_not_after, not_after)
    at = at.issuerCertificate
  }
  // Share one object for equal facts: results are copied to another thread, and shared objects only once.
  if (parsed.latest?.chain_not_after !== chain_not_after) parsed.latest = { ...parsed.facts, chain_not_after }
  return parsed.latest
}

/** Days until the earliest expiry in the chain, with a fraction; negative if it is past. @param now ms UTC */
export const daysLeft = (certificate: CertificateFacts, now: number): number => (certificate.chain_not_after - now) / dayMs

/** A duration in its largest whole unit: `3 days`, `5 hours`, `20 seconds`. */
export function formatDuration(ms: number): string {
  const [name, unit] = units.find(([, length]) => Math.abs(ms) >= length) ?? units.at(-1)!
  const count = Math.floor(Math.abs(ms) / unit)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}

/**
 * Parses subjectAltName as OpenSSL prints it: `DNS:a.test, IP Address:127.0.0.1`. Values with commas or quotes are printed as JSON
 * strings (CVE-2021-44532), so that one name cannot look like two.
 */
export function namesOf(subjectAltName: string | undefined): string[] {
  const names: string[] = []
  for (const [, kind, quoted, plain] of (subjectAltName ?? '').matchAll(/(?:^|, )([\w ]+):(?:("(?:[^"\\]|\\.)*")|([^,]*))/g)) {
    const value = quoted === undefined ? plain! : unquoted(quoted)
    if (kind === 'DNS') names.push(value.toLowerCase())
    else if (kind === 'IP Address') names.push(addressText(value))
  }
  return names
}

const dayMs = 86_400_000
const units: readonly [string, number][] = [
  ['day', dayMs],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
]

/** Bounds the work for a server that sends an absurdly long chain. */
const maxChainLength = 20

/** Parsed certificates by SHA-256: checks see the same ones over and over. */
const parsedCertificates = new Map<string, ParsedCertificate>()
const maxCached = 5000

interface ParsedCertificate {
  facts: Omit<CertificateFacts, 'chain_not_after'>
  not_after: number
  root: boolean
  /** The facts last returned, including the chain expiry. */
  latest: CertificateFacts | null
}

function parseCertificate(certificate: PresentedCertificate): ParsedCertificate {
  const fingerprint = certificate.fingerprint256
  const known = parsedCertificates.get(fingerprint)
  if (known) return known
  const x509 = certificate instanceof X509Certificate ? certificate : new X509Certificate(certificate.raw)
  const facts = ownFacts(x509)
  const entry: ParsedCertificate = { facts, not_after: facts.not_after, root: x509.subject === x509.issuer, latest: null }
  const [oldest] = parsedCertificates.keys()
  if (parsedCertificates.size >= maxCached) parsedCertificates.delete(oldest!)
  parsedCertificates.set(fingerprint, entry)
  return entry
}

/** What a certificate says about itself. Nothing of it is cached. */
export function ownFacts(x509: X509Certificate): ParsedCertificate['facts'] {
  const { subject, issuer } = x509
  return {
    sha256: x509.fingerprint256.replaceAll(':', '').toLowerCase(),
    subject: nameLine(subject),
    issuer: nameLine(issuer),
    serial: x509.serialNumber.toLowerCase(),
    names: namesOf(x509.subjectAltName),
    not_before: Date.parse(x509.validFrom),
    not_after: Date.parse(x509.validTo),
  }
}

/** A distinguished name on one line. OpenSSL prints one attribute per line. */
const nameLine = (name: string | undefined): string => (name ?? '').split('\n').join(', ')

function addressText(text: string): string {
  const address = parseAddress(text)
  return address ? formatAddress(address) : text
}

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text))
  } catch {
    return text
  }
}
