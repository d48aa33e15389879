import { lowerName } from '../../../core/dns/name'
import { WireWriter } from '../../../core/dns/wire-writer'

/**
 * A name as answers are looked up by: the octets of its wire form in lower case, one a character (`\x03www\x07example\0`).
 * A suffix of a name is a suffix of its key, and no spelling has to be read.
 */
export type NameKey = string

/** A name with its case, and the key it is found by. */
export interface WireName {
  readonly key: NameKey
  readonly octets: Uint8Array
}

/** The most octets of a name (RFC 1035 2.3.4). */
export const NAME_OCTETS_MAX = 255

/** @throws DnsFormatError for what is no absolute name */
export function wireName(text: string): WireName {
  return { key: latin1(written(lowerName(text))), octets: written(text) }
}

/** The key of octets that are known to be a whole name. */
export function keyOfOctets(octets: Uint8Array): NameKey {
  const lower = Buffer.from(octets)
  // Lengths of labels are below 64 and so below every letter.
  for (let at = 0; at < lower.length; at++) {
    const octet = lower[at]!
    if (octet >= 0x41 && octet <= 0x5a) lower[at] = octet | 0x20
  }
  return lower.toString('latin1')
}

/** The key one label up; of the root none is. */
export const parentKey = (key: NameKey): NameKey => key.slice(1 + key.charCodeAt(0))

/** The key of the wildcard one label below (RFC 4592 2.1.1). */
export const wildcardKey = (key: NameKey): NameKey => `\x01*${key}`

/** Where the name that begins at `at` ends, or -1 when it is cut off, compressed or too long. */
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
