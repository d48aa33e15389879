import { lackingTerms, namesSenders, spfTerms, withTerms, withoutTerms } from '../spf'
import type { PlacedSpf } from './placed'

// One SPF record is all that a name may have, so several bindings share it: each knows which terms it put there.

/**
 * An SPF record with the terms of a binding.
 * @param before what the binding had in it
 * @param shared terms that other bindings rely on, in lower case
 */
export function mergedSpf(
  text: string,
  terms: readonly string[],
  before: PlacedSpf | null,
  shared: ReadonlySet<string> = new Set(),
): { text: string; spf: PlacedSpf } {
  const wanted = new Set(terms.map(lower))
  const gone = (before?.added ?? []).filter(term => !wanted.has(lower(term)) && !shared.has(lower(term)))
  const rest = withoutTerms(text, gone)
  const lacking = new Set(lackingTerms(rest, terms))
  const added = new Set((before?.added ?? []).map(lower))
  return {
    text: withTerms(rest, terms),
    spf: {
      terms: [...terms],
      added: terms.filter(term => lacking.has(term) || added.has(lower(term))),
      made: before?.made ?? false,
    },
  }
}

/** An SPF record without what a binding added; null when the binding made it and nobody else’s terms are left. */
export function withoutOwnSpf(text: string, own: PlacedSpf, shared: ReadonlySet<string> = new Set()): string | null {
  const rest = withoutTerms(
    text,
    own.added.filter(term => !shared.has(lower(term))),
  )
  return own.made && !spfTerms(rest).some(namesSenders) ? null : rest
}

const lower = (term: string): string => term.toLowerCase()
