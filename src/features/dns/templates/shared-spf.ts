import { missingTerms, namesSenders, spfTerms, withTerms, withoutTerms } from '../records/spf'
import type { PlacedSpf } from './placed-rrsets'

// A name can have only one SPF record, so several bindings share it. Each binding tracks the terms it added.

/**
 * Merges the terms of a binding into an SPF record.
 * @param before terms the binding had in it
 * @param shared terms that other bindings use, in lower case
 */
export function mergedSpf(
  text: string,
  terms: readonly string[],
  before: PlacedSpf | null,
  shared: ReadonlySet<string> = new Set(),
): { text: string; spf: PlacedSpf } {
  const wanted = new Set(terms.map(lower))
  const obsolete = (before?.added ?? []).filter(term => !wanted.has(lower(term)) && !shared.has(lower(term)))
  const rest = withoutTerms(text, obsolete)
  const missing = new Set(missingTerms(rest, terms))
  const added = new Set((before?.added ?? []).map(lower))
  return {
    text: withTerms(rest, terms),
    spf: {
      terms: [...terms],
      added: terms.filter(term => missing.has(term) || added.has(lower(term))),
      created: before?.created ?? false,
    },
  }
}

/** Removes the terms a binding added; null if the binding created the record and no other terms remain. */
export function withoutBindingTerms(text: string, own: PlacedSpf, shared: ReadonlySet<string> = new Set()): string | null {
  const rest = withoutTerms(
    text,
    own.added.filter(term => !shared.has(lower(term))),
  )
  return own.created && !spfTerms(rest).some(namesSenders) ? null : rest
}

const lower = (term: string): string => term.toLowerCase()
