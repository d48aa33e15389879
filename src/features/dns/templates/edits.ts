import { joinedText } from '../record-values'
import { isSpf, lackingTerms } from '../spf'
import type { Rrset } from '../zone-rows'
import type { PlacedRrset } from './placed'

/** How an rrset differs from what a binding put there. */
export interface RrsetEdit {
  /** Within the zone; `@` is the apex. */
  name: string
  type: string
  kind: 'missing' | 'changed'
  essential: boolean
  /** Values that the binding put there and that are gone; of SPF the terms. */
  missing: string[]
  /** Values that are there beside them, where nothing else is to be. */
  extra: string[]
  /** The TTL that the template says, and the one that is there; null where they do not differ. */
  ttl: { expected: number; found: number } | null
}

/** What was edited of an rrset by others since a binding put it there; null when nothing was. */
export function editOf(placed: PlacedRrset, found: Rrset | undefined): RrsetEdit | null {
  const records = found?.records ?? []
  const hashes = new Set(records.map(one => one.rdataHash))
  const missing = placed.values.filter(one => !hashes.has(one.hash)).map(one => one.content)
  if (placed.spf) {
    const texts = records.flatMap(one => joinedText('TXT', one.rdata) ?? []).filter(isSpf)
    missing.push(...lackingTerms(texts.length === 1 ? texts[0]! : '', placed.spf.terms))
  }
  const own = new Set(placed.values.map(one => one.hash))
  const extra = placed.whole ? records.filter(one => !own.has(one.rdataHash)).map(one => one.content) : []
  const isOtherTtl = found !== undefined && placed.ttl !== null && found.row.ttl !== placed.ttl
  if (missing.length === 0 && extra.length === 0 && !isOtherTtl) return null
  return {
    name: placed.name,
    type: placed.type,
    kind: found ? 'changed' : 'missing',
    essential: placed.essential,
    missing,
    extra,
    ttl: isOtherTtl ? { expected: placed.ttl!, found: found.row.ttl } : null,
  }
}
