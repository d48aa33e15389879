import { DnsFormatError } from './format-error'

/** Maximum TTL in seconds (RFC 2181 section 8). */
export const TTL_MAX = 0x7fffffff

/** A received TTL: values above the maximum count as 0 (RFC 2181 section 8). @param seconds unsigned, 32 bits */
export const ttlReceived = (seconds: number): number => (seconds > TTL_MAX ? 0 : seconds)

/** Parses a TTL in a zone file: seconds, or with units such as `1h30m`. @throws DnsFormatError */
export function parseTtl(text: string): number {
  return parseSpan(text, TTL_MAX, 'RFC 2181 8')
}

/** Parses seconds, as a number or with the units s, m, h, d and w, like BIND. @throws DnsFormatError */
export function parseSpan(text: string, max: number, reference: string | null = null): number {
  let seconds = Number.NaN
  if (/^\d{1,10}$/.test(text)) seconds = Number(text)
  else if (SPANS.test(text)) {
    seconds = 0
    for (const [, number, unit] of text.matchAll(/(\d+)([a-z])/gi)) seconds += Number(number) * UNITS[unit!.toLowerCase()]!
  }
  if (!(seconds <= max))
    throw new DnsFormatError(`must be between 0 and ${max} seconds, as a number or in the form 1h30m`, null, reference)
  return seconds
}

/** True for text that can only be a TTL: it starts with a digit and has only numbers and units. */
export const looksLikeTtl = (text: string): boolean => /^\d+$/.test(text) || SPANS.test(text)

const SPANS = /^(?:\d{1,10}[smhdw]){1,5}$/i
const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }
