import { globOf } from '../../../core/glob'
import { octetsJson } from '../../../dns/octets'
import { txtValue } from '../../../dns/rdata'
import type { ProviderRrset } from '../providers/provider'
import type { IgnoreRule } from '../zones/shapes'
import { rrsetKey } from '../zones/names'

/** Default for zones without rules of their own: ACME challenges. */
export const defaultIgnoreRules: readonly IgnoreRule[] = [{ name: '_acme-challenge*' }]

/**
 * Returns the rrsets that match a rule, or that external-dns owns: its TXT registry marks them with a TXT record starting with
 * `heritage=external-dns` (kubernetes-sigs.github.io/external-dns).
 * @returns keys of {@link rrsetKey}
 */
export function ignoredKeys(observed: readonly ProviderRrset[], rules: readonly IgnoreRule[]): Set<string> {
  const tests = rules.map(rule => ({ fits: globOf(rule.name), types: rule.types }))
  const ignored = new Set<string>()
  const claimed = new Set<string>()
  for (const rrset of observed) {
    const { name, type } = rrset
    if (tests.some(one => one.fits(name) && (one.types?.includes(type) ?? true))) ignored.add(rrsetKey(rrset))
    if (type !== 'TXT' || !rrset.values.some(isHeritage)) continue
    ignored.add(rrsetKey(rrset))
    // Older versions use the same name for the marker; newer ones prefix it with the type.
    for (const ownedType of externalDnsTypes) claimed.add(rrsetKey({ name, type: ownedType }))
    const [, kind, rest] = /^(a|aaaa|cname|ns|mx|srv|txt)-(.+)$/.exec(name) ?? []
    if (kind && rest) claimed.add(rrsetKey({ name: rest, type: kind.toUpperCase() }))
  }
  for (const rrset of observed) if (claimed.has(rrsetKey(rrset))) ignored.add(rrsetKey(rrset))
  return ignored
}

const externalDnsTypes = ['A', 'AAAA', 'CNAME', 'NS', 'MX', 'SRV']

function isHeritage(value: Uint8Array): boolean {
  const text = octetsJson(txtValue(value))
  return typeof text === 'string' && /^"?heritage=external-dns\b/.test(text)
}
