// SPF records (RFC 7208): `v=spf1` followed by terms. The first term that matches a sender decides.

/** Maximum number of terms with DNS lookups that receivers evaluate (RFC 7208 section 4.6.4). */
export const maxSpfLookups = 10

/** Whether a text is an SPF record (RFC 7208 section 4.5). */
export const isSpf = (text: string): boolean => /^v=spf1( |$)/i.test(text)

/** The terms of an SPF record, in order. */
export const spfTerms = (text: string): string[] => text.split(' ').slice(1).filter(Boolean)

/** Number of terms of an SPF record that need DNS lookups. */
export const spfLookups = (text: string): number =>
  spfTerms(text).filter(term => /^[+?~-]?(include:|a([:/]|$)|mx([:/]|$)|ptr(:|$)|exists:|redirect=)/i.test(term)).length

/** Whether a term identifies senders: not `all`, and not a modifier such as `redirect=` (RFC 7208 section 4.6.1). */
export const namesSenders = (term: string): boolean => !endsSpf(term) && !isModifier(term)

/** The terms that an SPF record is missing. Case-insensitive. */
export function missingTerms(text: string, terms: readonly string[]): string[] {
  const present = new Set(spfTerms(text).map(normalized))
  return terms.filter(term => !present.has(normalized(term)))
}

/** Adds missing terms to an SPF record, before the `all` term. Existing terms keep their position. */
export function withTerms(text: string, terms: readonly string[]): string {
  const own = spfTerms(text)
  const end = own.findIndex(endsSpf)
  // Modifiers may be anywhere, but are usually last.
  const place = end >= 0 ? end : own.findIndex(isModifier)
  const added = missingTerms(text, terms)
  return spfText(place < 0 ? [...own, ...added] : own.toSpliced(place, 0, ...added))
}

/** Removes terms from an SPF record. */
export function withoutTerms(text: string, terms: readonly string[]): string {
  const removed = new Set(terms.map(normalized))
  return spfText(spfTerms(text).filter(term => !removed.has(normalized(term))))
}

const spfText = (terms: readonly string[]): string => ['v=spf1', ...terms].join(' ')

const endsSpf = (term: string): boolean => /^[+?~-]?all$/i.test(term)

const isModifier = (term: string): boolean => /^[a-z][a-z0-9_.-]*=/i.test(term)

/** Normalizes a term for comparison. `+` is the default qualifier (RFC 7208 section 4.6.2). */
const normalized = (term: string): string => term.toLowerCase().replace(/^\+/, '')
