import type { TSchema } from '@sinclair/typebox'

/** What is said of a part of the API that goes away. */
export interface Deprecation {
  /** Calendar day, `YYYY-MM-DD`, from which it should not be used any more. */
  since: string
  /** Calendar day, `YYYY-MM-DD`, from which it may be gone; 12 months after `since` or later. */
  sunset: string
  /** Page that says what to use instead. */
  link: string
  /** What to use instead, in a sentence. */
  note: string
}

/** Keyword of a parameter or member that is deprecated, in the schemas that validate. */
export const deprecation = 'x-deprecation'

/** Thrown at start for a deprecation that breaks the promise of a year's notice. */
export class BadDeprecation extends Error {
  override name = 'BadDeprecation'
}

/**
 * A parameter or member that is deprecated: the document says so, answers to those who use it say so, and its use is counted.
 * @throws BadDeprecation
 */
export function deprecated<T extends TSchema>(schema: T, notice: Deprecation): T {
  checkDeprecation(notice)
  const description = [schema.description, sentenceOf(notice)].filter(Boolean).join(' ')
  return { ...schema, description, deprecated: true, [deprecation]: notice }
}

/** @throws BadDeprecation when a day is none, or the sunset comes before a year has passed */
export function checkDeprecation({ since, sunset, link, note }: Deprecation): void {
  const [from, until] = [dayOf(since), dayOf(sunset)]
  const year = new Date(from)
  year.setUTCFullYear(year.getUTCFullYear() + 1)
  if (until < year.getTime()) throw new BadDeprecation(`${sunset} is less than 12 months after ${since}.`)
  if (link === '' || note === '') throw new BadDeprecation('It says what to use instead, and where that is written.')
}

/** What the document and the handbook say of it. */
export const sentenceOf = ({ since, sunset, note }: Deprecation): string =>
  `Deprecated since ${since}, gone from ${sunset}. ${note}`

/** `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the links of both, for an answer to which all of these apply; the nearest end counts. */
export function deprecationHeaders(notices: readonly Deprecation[]): { Deprecation: string; Sunset: string; Link: string } {
  const since = Math.min(...notices.map(one => dayOf(one.since)))
  const sunset = Math.min(...notices.map(one => dayOf(one.sunset)))
  const links = [...new Set(notices.map(one => one.link))]
  return {
    Deprecation: `@${since / 1000}`,
    Sunset: new Date(sunset).toUTCString(),
    Link: links
      .flatMap(link => [`<${link}>; rel="deprecation"; type="text/html"`, `<${link}>; rel="sunset"; type="text/html"`])
      .join(', '),
  }
}

/** The first moment of a calendar day in UTC, in milliseconds. */
function dayOf(text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text)
    throw new BadDeprecation(`${text} is no calendar day.`)
  return ms
}
