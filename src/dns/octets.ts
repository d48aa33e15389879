import { DnsFormatError } from './format-error'

/**
 * Octets in JSON: a string if they are valid UTF-8, and base64 otherwise. Text never needs escaping, and nothing is lost.
 */
export type Octets = string | { base64: string }

/** @throws DnsFormatError for unpaired surrogates, or invalid base64 */
export function octetsOf(value: unknown): Uint8Array {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw new DnsFormatError('must be valid Unicode text')
    return Buffer.from(value)
  }
  const base64 = isObject(value) && Object.keys(value).length === 1 ? value.base64 : undefined
  if (typeof base64 !== 'string') throw new DnsFormatError('must be a string, or {"base64": "…"} for binary data')
  return base64Octets(base64)
}

export function octetsJson(octets: Uint8Array): Octets {
  try {
    return utf8.decode(octets)
  } catch {
    return { base64: base64Text(octets) }
  }
}

/**
 * Unescapes a word in presentation format (RFC 1035 section 5.1): `\DDD` is the octet with that decimal number, `\X` is X, and other
 * characters are UTF-8. @throws DnsFormatError
 */
export function unescaped(text: string): Uint8Array {
  if (!text.includes('\\')) return octetsOf(text)
  const octets: number[] = []
  for (let at = 0; at < text.length;) {
    if (text[at] === '\\') {
      const [octet, next] = escapeAt(text, at)
      octets.push(octet)
      at = next
      continue
    }
    const end = text.indexOf('\\', at) < 0 ? text.length : text.indexOf('\\', at)
    for (const octet of octetsOf(text.slice(at, end))) octets.push(octet)
    at = end
  }
  return Uint8Array.from(octets)
}

/**
 * Parses the escape whose backslash is at `at`. Returns the octet, and where the text continues.
 * @throws DnsFormatError for a lone backslash, a number over 255 or with fewer than three digits, and an escaped character outside
 * ASCII
 */
export function escapeAt(text: string, at: number): [octet: number, next: number] {
  const code = text.charCodeAt(at + 1)
  if (Number.isNaN(code)) throw new DnsFormatError('must not end with a lone backslash', null, 'RFC 1035 5.1')
  if (code > 0x7e || code < 0x20) {
    throw new DnsFormatError('must escape only printable ASCII characters', null, 'RFC 1035 5.1')
  }
  if (code < 0x30 || code > 0x39) return [code, at + 2]
  const digits = text.slice(at + 1, at + 4)
  if (!/^\d{3}$/.test(digits) || Number(digits) > 255) {
    throw new DnsFormatError('must use numeric escapes of the form \\DDD, 000 to 255', null, 'RFC 1035 5.1')
  }
  return [Number(digits), at + 4]
}

/** Formats a quoted character-string: printable ASCII as is, `"` and `\` escaped, the rest as `\DDD`. */
export function quoted(octets: Uint8Array): string {
  let text = '"'
  for (const octet of octets) text += QUOTED[octet]!
  return `${text}"`
}

/** `\DDD` for an octet. */
export const numericEscape = (octet: number): string => `\\${String(octet).padStart(3, '0')}`

const QUOTED = Array.from({ length: 256 }, (_, octet) => {
  if (octet === 0x22 || octet === 0x5c) return `\\${String.fromCharCode(octet)}`
  return octet < 0x20 || octet > 0x7e ? numericEscape(octet) : String.fromCharCode(octet)
})

// ignoreBOM keeps a byte order mark as a character.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** @throws DnsFormatError unless it is pairs of hexadecimal digits */
export function hexOctets(text: string): Uint8Array {
  if (!/^(?:[0-9a-f]{2})*$/i.test(text)) throw new DnsFormatError('must be hexadecimal, two digits per octet')
  return Buffer.from(text, 'hex')
}

export const hexText = (octets: Uint8Array): string => view(octets).toString('hex')

/** @throws DnsFormatError unless it is padded base64 (RFC 4648 section 4) without stray bits at the end */
export function base64Octets(text: string): Uint8Array {
  const octets = Buffer.from(text, 'base64')
  if (octets.toString('base64') !== text) throw new DnsFormatError('must be base64 with padding', null, 'RFC 4648 4')
  return octets
}

export const base64Text = (octets: Uint8Array): string => view(octets).toString('base64')

/** @throws DnsFormatError unless it is base32hex without padding (RFC 4648 section 7) */
export function base32HexOctets(text: string): Uint8Array {
  const octets = new Uint8Array(Math.floor((text.length * 5) / 8))
  let bits = 0
  let held = 0
  let at = 0
  for (const character of text.toUpperCase()) {
    const value = BASE32_HEX.indexOf(character)
    if (value < 0) throw notBase32()
    held = ((held << 5) | value) & 0xfff
    bits += 5
    if (bits < 8) continue
    bits -= 8
    octets[at++] = (held >> bits) & 0xff
  }
  if (base32HexText(octets) !== text.toUpperCase()) throw notBase32()
  return octets
}

export function base32HexText(octets: Uint8Array): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const octet of octets) {
    held = ((held << 8) | octet) & 0xfff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += BASE32_HEX[(held >> bits) & 31]
    }
  }
  return bits > 0 ? text + BASE32_HEX[(held << (5 - bits)) & 31] : text
}

const BASE32_HEX = '0123456789ABCDEFGHIJKLMNOPQRSTUV'

const notBase32 = () => new DnsFormatError('must be base32 in the extended hexadecimal alphabet', null, 'RFC 4648 7')

const view = (octets: Uint8Array) => Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength)

/** Compares octets as unsigned numbers from the left, a prefix first (RFC 4034 section 6.3). */
export const compareOctets = (a: Uint8Array, b: Uint8Array): number => Buffer.compare(a, b)
