import { sha256Hex } from '../../../core/crypto'
import { compareOctets } from '../../../core/dns/octets'
import { canonicalRdata } from '../../../core/dns/rdata-names'
import type { Caps, ProviderRrset } from '../providers/provider'
import { rechunked } from '../providers/same-rrset'

/** What of a provider's abilities decides which rrsets are alike there. */
export type Comparison = Pick<Caps, 'ttl' | 'rechunksTxt'>

/** For zones that are kept here: everything is as it was given. */
export const exactly: Comparison = { ttl: { min: 0, max: 0x7fff_ffff }, rechunksTxt: false }

/**
 * An rrset in the one form in which it is compared: `<hash of the values>/<TTL>/<proxied>`. The values are hashed in canonical form
 * (RFC 4034 section 6.2) and order; the TTL is the one that the provider would keep; `proxied` is `1`, `0`, or nothing where it is not told, as
 * at all providers that choose no TTLs: they answer for nobody.
 */
export function printOf(rrset: ProviderRrset, by: Comparison): string {
  const values = rrset.values.map(value => canonicalRdata(rrset.type, by.rechunksTxt ? rechunked(rrset.type, value) : value))
  values.sort(compareOctets)
  const parts = values.flatMap(value => [lengthOf(value), value])
  const proxied = by.ttl.auto === undefined ? undefined : rrset.options?.proxied
  return `${sha256Hex(Buffer.concat(parts))}/${ttlKept(rrset.ttl, by)}/${proxied === undefined ? '' : Number(proxied)}`
}

/**
 * Whether two rrsets of one name and type are alike, by {@link printOf}; null is none. What one of them does not tell of proxying is not
 * compared, and of what is proxied the provider chooses the TTL.
 */
export function alike(one: string | null, other: string | null): boolean {
  if (one === other) return true
  if (one === null || other === null) return false
  const [values, ttl, proxied] = one.split('/')
  const [otherValues, otherTtl, otherProxied] = other.split('/')
  if (values !== otherValues) return false
  if (proxied !== '' && otherProxied !== '' && proxied !== otherProxied) return false
  return ttl === otherTtl || proxied === '1' || otherProxied === '1'
}

/** The TTL that a provider keeps of one that is asked for: the nearest that it allows, or its own choice where that is asked for. */
export function ttlKept(ttl: number, { ttl: allowed }: Pick<Caps, 'ttl'>): number {
  return ttl === allowed.auto ? ttl : Math.min(allowed.max, Math.max(allowed.min, ttl))
}

function lengthOf(value: Uint8Array): Uint8Array {
  const octets = Buffer.alloc(4)
  octets.writeUInt32BE(value.length)
  return octets
}
