import { X509Certificate } from 'node:crypto'
import { formatAddress, parseAddress } from '../core/net/address'
import type { CertificateFacts } from './check'

/** A certificate as X509Certificate has it, and as sockets tell it with the whole chain above it. */
export interface ShownCertificate {
  /** Hexadecimal SHA-256 of its DER form, with colons. */
  readonly fingerprint256: string
  readonly raw: Uint8Array
  /** Of one that signed itself it may be the same object. */
  readonly issuerCertificate?: ShownCertificate | undefined
}

/**
 * What a server's certificate says. The earliest end is that of the certificates below the root: a root is the reader's own whether a
 * server sends it or not, and its validity is no part of checking a chain (RFC 5280 section 6.1, RFC 8446 section 4.4.2).
 * Neither do those count that have ended already in a chain that is trusted all the same: trust came another way, as where an old
 * authority signed for a new one (cross-certificates, RFC 5280 section 3.2).
 * @param leaf the server's own, with those above it as its issuers
 * @param trustedAt when the chain was found to be trusted (ms UTC); null where it was not
 */
export function certificateFacts(leaf: ShownCertificate, trustedAt: number | null = null): CertificateFacts {
  const own = readOf(leaf)
  let chain_not_after = own.not_after
  let at = leaf.issuerCertificate
  for (let length = 1; at && length < chainMost; length++) {
    const { root, not_after } = readOf(at)
    if (root) break
    if (trustedAt === null || not_after > trustedAt) chain_not_after = Math.min(chain_not_after, not_after)
    at = at.issuerCertificate
  }
  // The same object for the same facts: what travels with many results is copied once.
  if (own.told?.chain_not_after !== chain_not_after) own.told = { ...own.facts, chain_not_after }
  return own.told
}

/** Days, with a fraction, from a time to the first end of validity in the chain; negative when that is past. @param now ms UTC */
export const daysLeft = (certificate: CertificateFacts, now: number): number => (certificate.chain_not_after - now) / dayMs

/** `3 days`, `5 hours`, `20 seconds`: whole units of the largest that fits. */
export function spanText(ms: number): string {
  const [name, unit] = units.find(([, length]) => Math.abs(ms) >= length) ?? units.at(-1)!
  const count = Math.floor(Math.abs(ms) / unit)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}

/**
 * The DNS names and addresses of a subjectAltName as OpenSSL prints it: `DNS:a.test, IP Address:127.0.0.1`. What holds a comma or a
 * quote is a JSON string there (CVE-2021-44532), so that no name can pass for two.
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

/** As many as any sane chain has: a server may send what it likes. */
const chainMost = 20

/** What certificates say does not change, and checks see the same ones again and again: by their SHA-256. */
const read = new Map<string, ReadCertificate>()
const readMost = 5000

interface ReadCertificate {
  facts: Omit<CertificateFacts, 'chain_not_after'>
  not_after: number
  root: boolean
  /** What was last told of it, with the chain above it. */
  told: CertificateFacts | null
}

function readOf(shown: ShownCertificate): ReadCertificate {
  const print = shown.fingerprint256
  const known = read.get(print)
  if (known) return known
  const certificate = shown instanceof X509Certificate ? shown : new X509Certificate(shown.raw)
  const { subject, issuer } = certificate
  const facts = {
    sha256: print.replaceAll(':', '').toLowerCase(),
    subject: nameLine(subject),
    issuer: nameLine(issuer),
    serial: certificate.serialNumber.toLowerCase(),
    names: namesOf(certificate.subjectAltName),
    not_before: Date.parse(certificate.validFrom),
    not_after: Date.parse(certificate.validTo),
  }
  const one: ReadCertificate = { facts, not_after: facts.not_after, root: subject === issuer, told: null }
  const [oldest] = read.keys()
  if (read.size >= readMost) read.delete(oldest!)
  read.set(print, one)
  return one
}

/** A distinguished name on one line. OpenSSL has an attribute a line. */
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
