import { sha256Hex } from '../../../core/crypto'
import { compareOctets } from '../../../dns/octets'
import { canonicalRdata } from '../../../dns/rdata-names'
import type { Caps, ProviderRrset } from '../providers/provider'
import { rechunked } from '../providers/same-rrset'

/** The capabilities of a provider that affect comparison. */
export type ComparisonRules = Pick<Caps, 'ttl' | 'rechunksTxt'>

/** For local zones: everything is stored as given. */
export const exactComparison: ComparisonRules = { ttl: { min: 0, max: 0x7fff_ffff }, rechunksTxt: false }

/** In place of the fingerprint of something that is not a plain rrset. The observed values are descriptions of it. */
export const foreignMark = 'foreign'

/**
 * Fingerprint of an rrset: `<hash of the values>/<TTL>/<proxied>`. Values are hashed in canonical form (RFC 4034 section 6.2) and
 * order. The TTL is the one the provider would store. `proxied` is `1`, `0`, or empty if unknown, as at providers without
 * automatic TTLs: they don't proxy.
 */
export function fingerprintOf(rrset: ProviderRrset, by: ComparisonRules): string {
  const values = rrset.values.map(value => canonicalRdata(rrset.type, by.rechunksTxt ? rechunked(rrset.type, value) : value))
  values.sort(compareOctets)
  const parts = values.flatMap(value => [lengthOf(value), value])
  const proxied = by.ttl.auto === undefined ? undefined : rrset.options?.proxied
  return `${sha256Hex(Buffer.concat(parts))}/${effectiveTtl(rrset.ttl, by)}/${proxied === undefined ? '' : Number(proxied)}`
}

/**
 * Compares the fingerprints of two rrsets with the same name and type; null means none. Ignores `proxied` if one side doesn't
 * report it, and the TTL of proxied rrsets, which the provider chooses.
 */
export function fingerprintsMatch(one: string | null, other: string | null): boolean {
  if (one === other) return true
  if (one === null || other === null) return false
  const [values, ttl, proxied] = one.split('/')
  const [otherValues, otherTtl, otherProxied] = other.split('/')
  if (values !== otherValues) return false
  if (proxied !== '' && otherProxied !== '' && proxied !== otherProxied) return false
  return ttl === otherTtl || proxied === '1' || otherProxied === '1'
}

/** Returns the TTL that a provider stores: the nearest allowed one, or its automatic value. */
export function effectiveTtl(ttl: number, { ttl: allowed }: Pick<Caps, 'ttl'>): number {
  return ttl === allowed.auto ? ttl : Math.min(allowed.max, Math.max(allowed.min, ttl))
}

function lengthOf(value: Uint8Array): Uint8Array {
  const octets = Buffer.alloc(4)
  octets.writeUInt32BE(value.length)
  return octets
}
