import { joinedText } from '../records/values'
import { isSpf, missingTerms } from '../records/spf'
import type { Rrset } from '../records/rows'
import type { PlacedRrset } from './placed-rrsets'

/** How an rrset differs from what a binding placed there. */
export interface RrsetDifference {
  /** Relative to the zone; `@` is the apex. */
  name: string
  type: string
  kind: 'missing' | 'changed'
  essential: boolean
  /** Placed values that are missing now. For SPF: missing terms. */
  missing: string[]
  /** Additional values, if the binding has the rrset exclusively. */
  extra: string[]
  /** TTL in the template and in the zone; null if equal. */
  ttl: { expected: number; actual: number } | null
}

/** Compares an rrset with what a binding placed there; null if it is unmodified. */
export function differenceOf(placed: PlacedRrset, found: Rrset | undefined): RrsetDifference | null {
  const records = found?.records ?? []
  const hashes = new Set(records.map(one => one.rdataHash))
  const missing = placed.values.filter(one => !hashes.has(one.hash)).map(one => one.content)
  if (placed.spf) {
    const texts = records.flatMap(one => joinedText('TXT', one.rdata) ?? []).filter(isSpf)
    missing.push(...missingTerms(texts.length === 1 ? texts[0]! : '', placed.spf.terms))
  }
  const own = new Set(placed.values.map(one => one.hash))
  const extra = placed.exclusive ? records.filter(one => !own.has(one.rdataHash)).map(one => one.content) : []
  const hasOtherTtl = found !== undefined && placed.ttl !== null && found.row.ttl !== placed.ttl
  if (missing.length === 0 && extra.length === 0 && !hasOtherTtl) return null
  return {
    name: placed.name,
    type: placed.type,
    kind: found ? 'changed' : 'missing',
    essential: placed.essential,
    missing,
    extra,
    ttl: hasOtherTtl ? { expected: placed.ttl!, actual: found.row.ttl } : null,
  }
}
