import { formatDuration } from '../../checks/certificate'
import { findingSeverities, type CertificateFindingView } from './shapes'
import type { CertificateRow, PresenceRow } from './tables'

const dayMs = 86_400_000

/** Maximum validity of public certificates by when they were issued: CA/Browser Forum ballots SC-022v2 and SC-081v3. */
const maxLifetimes: readonly [since: number, days: number][] = [
  [Date.UTC(2029, 2, 15), 47],
  [Date.UTC(2027, 2, 15), 100],
  [Date.UTC(2026, 2, 15), 200],
  [Date.UTC(2020, 8, 1), 398],
]

/**
 * The problems of a certificate itself and of how it is stored, the most serious first.
 * @param places where it is
 * @param lineages in how many lineages its key is used
 */
export function findingsOf(
  row: Pick<
    CertificateRow,
    'notBefore' | 'notAfter' | 'trust' | 'isCa' | 'keyType' | 'keyBits' | 'signatureAlgorithm' | 'contents' | 'isOnlyIssuer'
  >,
  places: readonly Pick<PresenceRow, 'data'>[],
  lineages: number,
): CertificateFindingView[] {
  const found: CertificateFindingView[] = []
  const add = (code: CertificateFindingView['code'], severity: CertificateFindingView['severity'], detail: string) =>
    found.push({ code, severity, detail })
  for (const { data } of places) {
    if (data.kind !== 'file') continue
    const where = `${data.serverName}:${data.path}`
    if (data.key === 'mismatch') add('key_mismatch', 'high', `The private key for ${where} belongs to another certificate.`)
    // The last digit of a mode is what all users may do; 4 is reading.
    if (data.mode !== null && (Number(data.mode.at(-1)) & 4) !== 0)
      add('key_readable', 'high', `Every user of the server can read the private key for ${where} (mode ${data.mode}).`)
  }
  if (/^(md2|md5|sha1)|-SHA1$/i.test(row.signatureAlgorithm) && row.trust !== 'self_signed')
    add('sha1_signature', 'high', `The signature algorithm ${row.signatureAlgorithm} is broken. Clients reject the certificate.`)
  if (row.keyBits !== null && row.keyBits < (row.keyType === 'ec' ? 224 : 2048))
    add('weak_key', 'high', `The key has only ${row.keyBits} bits. Use at least ${row.keyType === 'ec' ? 'P-256' : '2048 bits'}.`)
  const [, days] = maxLifetimes.find(([since]) => row.notBefore >= since) ?? []
  // A day has 86,400 seconds, and the last second counts.
  if (row.trust === 'public' && !row.isCa && days !== undefined && row.notAfter - row.notBefore >= days * dayMs + 1000)
    add(
      'lifetime_over_limit',
      'medium',
      `It is valid for ${formatDuration(row.notAfter - row.notBefore)}, but ${days} days is the maximum.`,
    )
  if (lineages > 1) add('key_reused', 'low', `Its key is used by certificates of ${lineages} lineages.`)
  const { dns_names, ip_addresses } = row.contents
  if (!row.isCa && dns_names.length + ip_addresses.length === 0)
    add('no_names', 'low', 'It has no subject alternative names, so clients don’t accept it for any name.')
  const rank = ({ severity }: CertificateFindingView) => findingSeverities.indexOf(severity)
  return found.sort((a, b) => rank(a) - rank(b)).slice(0, maxFindings)
}

const maxFindings = 20
