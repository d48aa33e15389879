// SPF records (RFC 7208): `v=spf1` and terms, of which the first that fits a sender decides.

/** Terms that need a question to the DNS: a receiver asks 10 of them at most (RFC 7208 section 4.6.4). */
export const mostSpfLookups = 10

/** Whether a text is an SPF record (RFC 7208 section 4.5). */
export const isSpf = (text: string): boolean => /^v=spf1( |$)/i.test(text)

/** The terms of an SPF record, in order. */
export const spfTerms = (text: string): string[] => text.split(' ').slice(1).filter(Boolean)

/** How many terms of an SPF record are looked up. */
export const spfLookups = (text: string): number =>
  spfTerms(text).filter(term => /^[+?~-]?(include:|a([:/]|$)|mx([:/]|$)|ptr(:|$)|exists:|redirect=)/i.test(term)).length

/** Whether a term names senders: not `all`, which ends the record, and no modifier such as `redirect=` (RFC 7208 section 4.6.1). */
export const namesSenders = (term: string): boolean => !endsSpf(term) && !isModifier(term)

/** The terms that one SPF record lacks of others, compared without their case. */
export function lackingTerms(text: string, terms: readonly string[]): string[] {
  const there = new Set(spfTerms(text).map(sameTerm))
  return terms.filter(term => !there.has(sameTerm(term)))
}

/** An SPF record with terms added where they count: before the one that fits everybody. Those that are there stay where they are. */
export function withTerms(text: string, terms: readonly string[]): string {
  const own = spfTerms(text)
  const end = own.findIndex(endsSpf)
  // Modifiers may stand anywhere; people expect them last.
  const place = end >= 0 ? end : own.findIndex(isModifier)
  const added = lackingTerms(text, terms)
  return spfText(place < 0 ? [...own, ...added] : own.toSpliced(place, 0, ...added))
}

/** An SPF record without these terms. */
export function withoutTerms(text: string, terms: readonly string[]): string {
  const gone = new Set(terms.map(sameTerm))
  return spfText(spfTerms(text).filter(term => !gone.has(sameTerm(term))))
}

const spfText = (terms: readonly string[]): string => ['v=spf1', ...terms].join(' ')

const endsSpf = (term: string): boolean => /^[+?~-]?all$/i.test(term)

const isModifier = (term: string): boolean => /^[a-z][a-z0-9_.-]*=/i.test(term)

/** `+` is what a mechanism has without a sign (RFC 7208 section 4.6.2). */
const sameTerm = (term: string): string => term.toLowerCase().replace(/^\+/, '')
