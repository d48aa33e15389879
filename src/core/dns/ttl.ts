import { DnsFormatError } from './format-error'

/** The greatest TTL in seconds (RFC 2181 8). */
export const TTL_MAX = 0x7fffffff

/** A TTL as others tell it: what is greater than one can be counts as 0 (RFC 2181 8). @param seconds of 32 bits without sign */
export const ttlReceived = (seconds: number): number => (seconds > TTL_MAX ? 0 : seconds)

/** A TTL of zone file text: seconds, or spans with units such as `1h30m`. @throws DnsFormatError */
export function parseTtl(text: string): number {
  return parseSpan(text, TTL_MAX, 'RFC 2181 8')
}

/** Seconds written as a number or as spans with the units s, m, h, d and w, as BIND writes them. @throws DnsFormatError */
export function parseSpan(text: string, max: number, reference: string | null = null): number {
  let seconds = Number.NaN
  if (/^\d{1,10}$/.test(text)) seconds = Number(text)
  else if (SPANS.test(text)) {
    seconds = 0
    for (const [, number, unit] of text.matchAll(/(\d+)([a-z])/gi)) seconds += Number(number) * UNITS[unit!.toLowerCase()]!
  }
  if (!(seconds <= max)) throw new DnsFormatError(`must be 0–${max} seconds, as a number or like 1h30m`, null, reference)
  return seconds
}

/** True for what can only be meant as a TTL: it begins with a digit and has nothing but numbers and units. */
export const looksLikeTtl = (text: string): boolean => /^\d+$/.test(text) || SPANS.test(text)

const SPANS = /^(?:\d{1,10}[smhdw]){1,5}$/i
const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }
