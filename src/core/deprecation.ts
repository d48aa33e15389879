import type { TSchema } from '@sinclair/typebox'

/** Deprecation notice of a part of the API. */
export interface Deprecation {
  /** Date (`YYYY-MM-DD`) from which it should no longer be used. */
  since: string
  /** Date (`YYYY-MM-DD`) from which it may be removed; at least 12 months after `since`. */
  sunset: string
  /** Page that describes the replacement. */
  link: string
  /** What to use instead, in a sentence. */
  note: string
}

/** Schema keyword of a deprecated parameter or field. */
export const deprecation = 'x-deprecation'

/** Thrown at startup for a deprecation with less than a year's notice. */
export class InvalidDeprecation extends Error {
  override name = 'InvalidDeprecation'
}

/**
 * Marks a parameter or field as deprecated: in the OpenAPI document and in response headers. Its use is counted.
 * @throws InvalidDeprecation
 */
export function deprecated<T extends TSchema>(schema: T, notice: Deprecation): T {
  checkDeprecation(notice)
  const description = [schema.description, deprecationText(notice)].filter(Boolean).join(' ')
  return { ...schema, description, deprecated: true, [deprecation]: notice }
}

/** @throws InvalidDeprecation if a date is invalid or the sunset is less than a year away */
export function checkDeprecation({ since, sunset, link, note }: Deprecation): void {
  const [from, until] = [dayOf(since), dayOf(sunset)]
  const year = new Date(from)
  year.setUTCFullYear(year.getUTCFullYear() + 1)
  if (until < year.getTime()) throw new InvalidDeprecation(`${sunset} is less than 12 months after ${since}.`)
  if (link === '' || note === '') throw new InvalidDeprecation('`link` and `note` must not be empty.')
}

/** The sentence in the OpenAPI document and the handbook. */
export const deprecationText = ({ since, sunset, note }: Deprecation): string =>
  `Deprecated since ${since}; will be removed after ${sunset}. ${note}`

/**
 * The `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` headers of a response. With several notices, the earliest dates
 * apply.
 */
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

/** Midnight UTC of a date, in milliseconds. */
function dayOf(text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text)
    throw new InvalidDeprecation(`${text} is not a calendar date.`)
  return ms
}
