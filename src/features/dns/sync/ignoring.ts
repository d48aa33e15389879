import { octetsJson } from '../../../core/dns/octets'
import { txtValue } from '../../../core/dns/rdata'
import type { ProviderRrset } from '../providers/provider'
import { rrsetKey } from '../zone-rows'

/** Which rrsets of others are left alone without a word. */
export interface IgnoreRule {
  /** Name within the zone; `*` stands for any text. */
  name: string
  /** Any type when absent. */
  types?: string[]
}

/** What is ignored where a zone has no rules of its own: proofs that certificates are asked for with. */
export const usualRules: readonly IgnoreRule[] = [{ name: '_acme-challenge*' }]

/**
 * Which of the rrsets that are read belong to others by a rule, or by their own word: external-dns marks the records that it keeps with a
 * TXT that begins `heritage=external-dns` (its TXT registry, kubernetes-sigs.github.io/external-dns).
 * @returns keys of {@link rrsetKey}
 */
export function ignoredAmong(observed: readonly ProviderRrset[], rules: readonly IgnoreRule[]): Set<string> {
  const tests = rules.map(rule => ({ fits: patternOf(rule.name), types: rule.types }))
  const ignored = new Set<string>()
  const claimed = new Set<string>()
  for (const rrset of observed) {
    const { name, type } = rrset
    if (tests.some(one => one.fits(name) && (one.types?.includes(type) ?? true))) ignored.add(rrsetKey(rrset))
    if (type !== 'TXT' || !rrset.values.some(isHeritage)) continue
    ignored.add(rrsetKey(rrset))
    // The older form has the mark at the name itself; the newer one has the type before it.
    for (const kept of keptTypes) claimed.add(rrsetKey({ name, type: kept }))
    const [, kind, rest] = /^(a|aaaa|cname|ns|mx|srv|txt)-(.+)$/.exec(name) ?? []
    if (kind && rest) claimed.add(rrsetKey({ name: rest, type: kind.toUpperCase() }))
  }
  for (const rrset of observed) if (claimed.has(rrsetKey(rrset))) ignored.add(rrsetKey(rrset))
  return ignored
}

const keptTypes = ['A', 'AAAA', 'CNAME', 'NS', 'MX', 'SRV']

function isHeritage(value: Uint8Array): boolean {
  const text = octetsJson(txtValue(value))
  return typeof text === 'string' && /^"?heritage=external-dns\b/.test(text)
}

/** Whether a name fits; in one pass, where a regular expression would try each place of each `*` with each of the others. */
function patternOf(glob: string): (name: string) => boolean {
  const [first = '', ...rest] = glob.toLowerCase().split('*')
  const last = rest.pop()
  if (last === undefined) return name => name === first
  return name => {
    if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false
    let at = first.length
    for (const part of rest) {
      const found = name.indexOf(part, at)
      if (found < 0) return false
      at = found + part.length
    }
    return at <= name.length - last.length
  }
}
