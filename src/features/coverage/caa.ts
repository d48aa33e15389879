import type { CaaProperty } from '../../dns/caa'

/**
 * The CAA records that apply to a name: those of the closest name above it that has any, itself included (RFC 8659 section 3).
 * @returns null if there are none up to the top
 */
export function caaOf(name: string, records: ReadonlyMap<string, readonly CaaProperty[]>): readonly CaaProperty[] | null {
  for (let rest = name; ;) {
    const found = records.get(rest)
    if (found) return found
    const dot = rest.indexOf('.')
    if (dot < 0) return null
    rest = rest.slice(dot + 1)
  }
}

/** Domain names by which public authorities are known in CAA records, by the organization in their certificates. Source: their practice statements. */
const authorities: readonly [organization: string, identities: readonly string[]][] = [
  ["Let's Encrypt", ['letsencrypt.org']],
  ['Google Trust Services', ['pki.goog']],
  ['ZeroSSL', ['sectigo.com', 'zerossl.com']],
  ['Sectigo', ['sectigo.com', 'comodoca.com', 'usertrust.com', 'trust-provider.com']],
  [
    'DigiCert',
    ['digicert.com', 'www.digicert.com', 'digicert.ne.jp', 'symantec.com', 'thawte.com', 'geotrust.com', 'rapidssl.com'],
  ],
  ['Amazon', ['amazon.com', 'amazontrust.com', 'awstrust.com', 'amazonaws.com', 'aws.amazon.com']],
  ['GlobalSign', ['globalsign.com']],
  ['Buypass', ['buypass.com', 'buypass.no']],
  ['SSL Corporation', ['ssl.com']],
]

/** Domain names of the authority that issued a certificate; null if it isn’t known by any. @param issuer distinguished name */
export const identitiesOf = (issuer: string): readonly string[] | null =>
  authorities.find(([organization]) => issuer.includes(`O=${organization}`) || issuer.includes(`O="${organization}`))?.[1] ?? null
