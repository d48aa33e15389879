import { lowerName } from '../../../dns/name'
import { WireWriter } from '../../../dns/wire-writer'

/**
 * Lookup key of a name: the octets of its wire form in lower case, one per character (`\x03www\x07example\0`). Parent names are
 * suffixes, and no escapes have to be parsed.
 */
export type NameKey = string

/** A name in its original case, with its lookup key. */
export interface WireName {
  readonly key: NameKey
  readonly octets: Uint8Array
}

/** Maximum length of a name (RFC 1035 section 2.3.4). */
export const NAME_OCTETS_MAX = 255

/** @throws DnsFormatError if it is not an absolute name */
export function wireName(text: string): WireName {
  return { key: latin1(written(lowerName(text))), octets: written(text) }
}

/** Key of octets that are known to be a complete name. */
export function keyOfOctets(octets: Uint8Array): NameKey {
  const lower = Buffer.from(octets)
  // Label lengths are below 64, so they are never mistaken for letters.
  for (let at = 0; at < lower.length; at++) {
    const octet = lower[at]!
    if (octet >= 0x41 && octet <= 0x5a) lower[at] = octet | 0x20
  }
  return lower.toString('latin1')
}

/** Key of the parent name. The root has none. */
export const parentKey = (key: NameKey): NameKey => key.slice(1 + key.charCodeAt(0))

/** Key of the wildcard directly below (RFC 4592 section 2.1.1). */
export const wildcardKey = (key: NameKey): NameKey => `\x01*${key}`

/** End of the name at `at`, or -1 if it is truncated, compressed or too long. */
export function endOfName(octets: Uint8Array, at: number): number {
  for (let next = at; next < octets.length;) {
    const size = octets[next]!
    if (size > 63) return -1
    next += size + 1
    if (next - at > NAME_OCTETS_MAX || next > octets.length) return -1
    if (size === 0) return next
  }
  return -1
}

function written(text: string): Uint8Array {
  const writer = new WireWriter(NAME_OCTETS_MAX)
  writer.name(text)
  return writer.finish()
}

const latin1 = (octets: Uint8Array) => Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).toString('latin1')
