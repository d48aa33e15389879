import { certificateDetails } from '../../checks/certificate-details'
import { sha256Hex } from '../../core/crypto'
import { toBase32 } from '../../core/ids'
import type { Certificate } from '../../core/x509/chain'
import { criticalAt, expiringAt, usualRenewalAt } from './life'
import type { CertificateRow } from './tables'

/** The columns of a certificate that follow from itself. */
export type Described = Pick<
  CertificateRow,
  | 'sha256'
  | 'tbsSha256'
  | 'der'
  | 'serialNumber'
  | 'commonName'
  | 'subject'
  | 'issuer'
  | 'subjectHash'
  | 'issuerHash'
  | 'notBefore'
  | 'notAfter'
  | 'keyType'
  | 'keyBits'
  | 'spkiSha256'
  | 'signatureAlgorithm'
  | 'contents'
  | 'isCa'
  | 'isPrecertificate'
  | 'lineageId'
  | 'renewalDueAt'
  | 'expiringFrom'
  | 'criticalFrom'
  | 'crlUrl'
>

/** Subjects and issuers have no defined length. */
const maxNameLength = 1000

/** Returns the columns of a certificate. Null if the runtime can’t read it, for example because of the form of its names. */
export function describe({ der, sha256, facts }: Certificate): Described | null {
  const details = certificateDetails(der)
  if (!details) return null
  const { key, issued_by } = details
  const isCa = facts.basicConstraints?.isCa ?? false
  const names = [...facts.dnsNames, ...facts.ipAddresses]
  return {
    ...{ sha256, der, isCa, tbsSha256: facts.tbsSha256, serialNumber: facts.serial, commonName: facts.commonName ?? '' },
    subject: details.subject.slice(0, maxNameLength),
    issuer: details.issuer.slice(0, maxNameLength),
    ...{ subjectHash: sha256Hex(facts.subject), issuerHash: sha256Hex(facts.issuer) },
    ...{ notBefore: facts.notBefore, notAfter: facts.notAfter, renewalDueAt: usualRenewalAt(facts) },
    ...{ expiringFrom: Math.ceil(expiringAt(facts)), criticalFrom: Math.ceil(criticalAt(facts)) },
    ...{ keyType: key.type, keyBits: key.bits, spkiSha256: key.spki_sha256, signatureAlgorithm: facts.signatureAlgorithm },
    isPrecertificate: facts.isPrecertificate,
    crlUrl: facts.crlUrls[0] ?? null,
    contents: {
      dns_names: facts.dnsNames,
      ip_addresses: facts.ipAddresses,
      key_usage: facts.keyUsage,
      extended_key_usage: facts.extendedKeyUsage,
      policies: facts.policies,
      crl_urls: facts.crlUrls,
      issuer_key_id: facts.authorityKeyId,
      must_staple: facts.mustStaple,
      sct_count: facts.sctCount,
    },
    lineageId: lineageOf(names.length === 0 ? [details.subject] : names, issued_by, key.type),
  }
}

/** Certificates with the same names, by the same CA, and with the same type of key replace each other. */
function lineageOf(names: readonly string[], issuedBy: string, keyType: string | null): string {
  const hash = sha256Hex(JSON.stringify([[...new Set(names)].sort(), issuedBy, keyType]))
  return `lin_${toBase32(Buffer.from(hash.slice(0, 32), 'hex'))}`
}
