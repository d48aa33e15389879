/**
 * A reader of DER (ITU-T X.690 section 10), as certificates use it. Input can come from anyone, so everything is bounded: the size, the
 * depth, and the number of elements that callers ask for. Only the strict form is accepted: definite and minimal lengths, tag numbers
 * below 31.
 */

/** The input is not DER, or not what was expected. Nothing else is thrown. */
export class DerError extends Error {
  override name = 'DerError'
}

/** Maximum size of a certificate (bytes). Those of public CAs have less than 10 kB. */
export const maxDerBytes = 65_536
/** Maximum nesting. Certificates use about ten levels. */
const maxDepth = 24

/** An element: identifier octet, length, and content. */
export interface Der {
  /** The identifier octet, with class and whether it is constructed, such as 0x30 for SEQUENCE. */
  readonly tag: number
  /** The whole element. */
  readonly bytes: Uint8Array
  readonly content: Uint8Array
}

export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

/** The identifier octet of a context-specific tag. */
export const contextTag = (number: number, isConstructed: boolean): number => (isConstructed ? 0xa0 : 0x80) | number

/**
 * Reads one element that fills the input, and checks all elements in it.
 * @throws DerError
 */
export function readDer(bytes: Uint8Array): Der {
  if (bytes.length > maxDerBytes) throw new DerError(`has more than ${maxDerBytes} bytes.`)
  const { end } = checkHeader(bytes, 0, bytes.length)
  if (end !== bytes.length) throw new DerError('is followed by other data.')
  checkAll(bytes)
  return elementAt(bytes, 0, bytes.length)
}

/** The elements in a constructed element. @throws DerError if it is primitive, or has more than `max` elements */
export function childrenOf({ tag, content }: Der, max = 1000): Der[] {
  if ((tag & 0x20) === 0) throw new DerError(`contains a primitive element of type ${hexTag(tag)} where others are expected.`)
  const children: Der[] = []
  for (let at = 0; at < content.length;) {
    if (children.length >= max) throw new DerError(`contains a list of more than ${max} elements.`)
    const child = elementAt(content, at, content.length)
    children.push(child)
    at += child.bytes.length
  }
  return children
}

/** Requires a tag. @throws DerError */
export function expectTag(element: Der | undefined, tag: number, what: string): Der {
  if (element?.tag !== tag) throw new DerError(`has no valid ${what}.`)
  return element
}

/** Content of an INTEGER. @throws DerError unless it is minimal */
export function integerBytes(element: Der | undefined, what: string): Uint8Array {
  const { content } = expectTag(element, tags.integer, what)
  const [first = -1, second = 0] = content
  const isPadded = content.length > 1 && (first === 0 ? second < 0x80 : first === 0xff && second >= 0x80)
  if (first < 0 || isPadded) throw new DerError(`has no valid ${what}.`)
  return content
}

/** A small INTEGER. @throws DerError if it is negative or above 2^31 */
export function smallInteger(element: Der | undefined, what: string): number {
  const content = integerBytes(element, what)
  if (content.length > 4 || content[0]! >= 0x80) throw new DerError(`has no valid ${what}.`)
  return content.reduce((sum, byte) => sum * 256 + byte, 0)
}

/** An OBJECT IDENTIFIER in dotted form. @throws DerError */
export function oidText(element: Der | undefined, what: string): string {
  const { content } = expectTag(element, tags.oid, what)
  if (content.length === 0 || content.length > 64) throw new DerError(`has no valid ${what}.`)
  const arcs: number[] = []
  let arc = 0
  for (const [at, byte] of content.entries()) {
    if (arc === 0 && byte === 0x80) throw new DerError(`has no valid ${what}.`)
    arc = arc * 128 + (byte & 0x7f)
    if (!Number.isSafeInteger(arc)) throw new DerError(`has no valid ${what}.`)
    if (byte >= 0x80) {
      if (at === content.length - 1) throw new DerError(`has no valid ${what}.`)
      continue
    }
    if (arcs.length === 0) {
      const first = Math.min(2, Math.floor(arc / 40))
      arcs.push(first, arc - first * 40)
    } else arcs.push(arc)
    arc = 0
  }
  return arcs.join('.')
}

/** The bits of a BIT STRING that are set, the first bit of the first byte being 0. @throws DerError */
export function bitsOf(element: Der | undefined, what: string): number[] {
  const { content } = expectTag(element, tags.bitString, what)
  if (content.length === 0 || content[0]! > 7 || content.length > 9) throw new DerError(`has no valid ${what}.`)
  const bits: number[] = []
  for (let bit = 0; bit < (content.length - 1) * 8; bit++) {
    if (content[1 + (bit >> 3)]! & (0x80 >> (bit & 7))) bits.push(bit)
  }
  return bits
}

/** A UTCTime or GeneralizedTime as RFC 5280 section 4.1.2.5 allows it, in ms UTC. @throws DerError */
export function timeOf(element: Der | undefined, what: string): number {
  const text = element ? latin1(element.content) : ''
  const isUtc = element?.tag === tags.utcTime
  const pattern = isUtc ? /^(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/ : /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/
  const found = isUtc || element?.tag === tags.generalizedTime ? pattern.exec(text) : null
  if (!found) throw new DerError(`has no valid ${what}.`)
  const [year, month, day, hour, minute, second] = found.slice(1).map(Number) as [number, number, number, number, number, number]
  const fullYear = isUtc ? year + (year < 50 ? 2000 : 1900) : year
  const time = new Date(0)
  time.setUTCFullYear(fullYear, month - 1, day)
  time.setUTCHours(hour, minute, second)
  if (time.getUTCMonth() !== month - 1 || time.getUTCDate() !== day || hour > 23 || minute > 59 || second > 59)
    throw new DerError(`has no valid ${what}.`)
  return time.getTime()
}

/** The bytes as one character each. */
export const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')

/** Encodes an element. */
export function encodeDer(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const length = contents.reduce((sum, one) => sum + one.length, 0)
  const lengthBytes = []
  if (length < 0x80) lengthBytes.push(length)
  else {
    for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) lengthBytes.unshift(rest % 256)
    lengthBytes.unshift(0x80 | lengthBytes.length)
  }
  return Buffer.concat([Uint8Array.of(tag, ...lengthBytes), ...contents])
}

/** The element at a position. Only its header is checked. @throws DerError unless it ends before `limit` */
export function elementAt(bytes: Uint8Array, at: number, limit: number): Der {
  const { contentAt, end } = checkHeader(bytes, at, limit)
  return { tag: bytes[at]!, bytes: bytes.subarray(at, end), content: bytes.subarray(contentAt, end) }
}

/** Checks every header, without recursion: depth is limited, not only expected to be small. */
function checkAll(bytes: Uint8Array): void {
  const ends: number[] = []
  for (let at = 0; at < bytes.length;) {
    while (ends.at(-1) === at) ends.pop()
    const { contentAt, end } = checkHeader(bytes, at, ends.at(-1) ?? bytes.length)
    const isConstructed = (bytes[at]! & 0x20) !== 0
    if (isConstructed && contentAt < end) {
      if (ends.length >= maxDepth) throw new DerError(`has more than ${maxDepth} levels.`)
      ends.push(end)
      at = contentAt
    } else at = end
  }
}

/** Where the content of the element at `at` begins and ends. */
function checkHeader(bytes: Uint8Array, at: number, limit: number): { contentAt: number; end: number } {
  if (at + 2 > limit) throw new DerError('ends too early.')
  const tag = bytes[at]!
  if ((tag & 0x1f) === 0x1f || tag === 0) throw new DerError(`has an element of the unknown type ${hexTag(tag)}.`)
  const first = bytes[at + 1]!
  if (first < 0x80) return within(at + 2, first, limit)
  if (first === 0x80) throw new DerError('has an element of indefinite length, which DER does not allow.')
  const count = first & 0x7f
  if (count > 4 || at + 2 + count > limit) throw new DerError('has an element that is longer than the data.')
  let length = 0
  for (let byte = 0; byte < count; byte++) length = length * 256 + bytes[at + 2 + byte]!
  if (length < 0x80 || length < 256 ** (count - 1)) throw new DerError('has an element with a length that is not minimal.')
  return within(at + 2 + count, length, limit)
}

function within(contentAt: number, length: number, limit: number): { contentAt: number; end: number } {
  if (contentAt + length > limit) throw new DerError('has an element that is longer than the data.')
  return { contentAt, end: contentAt + length }
}

const hexTag = (tag: number): string => `0x${tag.toString(16).padStart(2, '0')}`
