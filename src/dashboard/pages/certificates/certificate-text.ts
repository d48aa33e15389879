import type { CertificateFindingView, CertificatePresenceView, CertificateView } from '../../../features/certificates/shapes'
import type { PagePath } from '../../pages'
import type { Tone } from '../../parts/status'

export const invalidates = ['/certificates', '/certificate-authorities']

/** The pages about certificates. */
export const certificateTabs: readonly PagePath[] = [
  '/certificates',
  '/certificates/coverage',
  '/certificates/gaps',
  '/certificates/authorities',
]

export const statusTitles: Record<CertificateView['status'], string> = {
  valid: 'Valid',
  expiring: 'Expiring',
  expired: 'Expired',
  not_yet_valid: 'Not valid yet',
  revoked: 'Revoked',
  superseded: 'Superseded',
  retired: 'Retired',
}

/** The status, or how urgent it is to replace the certificate. */
export const statusTitleOf = ({ status, level }: CertificateView): string =>
  status === 'expiring' && level === 'critical' ? 'Critical' : statusTitles[status]

/** A certificate that is not in use can expire without consequences. */
export function toneOfCertificate({ status, level, in_use }: CertificateView): Tone {
  if (status === 'superseded' || status === 'retired' || (!in_use && status !== 'revoked')) return 'idle'
  if (status === 'revoked' || level === 'expired' || level === 'critical') return 'bad'
  return status === 'expiring' || status === 'not_yet_valid' ? 'warn' : 'ok'
}

export const trustTitles: Record<CertificateView['trust'], string> = {
  public: 'Publicly trusted',
  private: 'Trusted in this workspace',
  self_signed: 'Self-signed',
  untrusted: 'Not trusted',
}

export const sourceTitles: Record<CertificateView['sources'][number], string> = {
  endpoint: 'TLS endpoint',
  agent: 'Agent',
  ct: 'CT log',
  upload: 'Upload',
  issued: 'Issued here',
}

export const findingTones: Record<CertificateFindingView['severity'], Tone> = {
  high: 'bad',
  medium: 'warn',
  low: 'idle',
  info: 'idle',
}

/** The name of a certificate. */
export const nameOf = ({ common_name, dns_names, ip_addresses, subject }: CertificateView): string =>
  common_name ?? dns_names[0] ?? ip_addresses[0] ?? (subject || 'Unnamed certificate')

/** The part of an issuer that people know it by. */
export const issuerName = ({ issuer }: CertificateView): string =>
  /(?:^|, )O=([^,]+)/.exec(issuer)?.[1] ?? /(?:^|, )CN=([^,]+)/.exec(issuer)?.[1] ?? issuer

export const describeKey = ({ key }: CertificateView): string => [key.type?.toUpperCase(), key.bits].filter(Boolean).join(' ')

/** Where a certificate is, without the server. */
export function describePlace(one: CertificatePresenceView): string {
  const { kind, host, port, address, servername, process, path } = one
  if (kind === 'endpoint') return [`${host}:${port}`, address].filter(Boolean).join(' · ')
  if (kind === 'file') return path!
  if (kind === 'served')
    return [`Port ${port}${servername === null ? '' : ` as ${servername}`}`, process].filter(Boolean).join(' · ')
  return kind === 'ct' ? 'Certificate Transparency log' : kind === 'upload' ? 'Uploaded' : 'Issued by Bailiwick'
}

const keyTexts: Record<NonNullable<CertificatePresenceView['key']>, string> = {
  matches: 'key matches',
  mismatch: 'key does not match',
  missing: 'no key',
  unreadable: 'key not read',
}

/** How a file is used and protected. */
export const describeFile = ({ key, mode, references }: CertificatePresenceView): string =>
  [
    references.length > 0 && `used by ${references.join(', ')}`,
    key && `${keyTexts[key]}${mode === null ? '' : ` (mode ${mode})`}`,
  ]
    .filter(Boolean)
    .join(' · ')
