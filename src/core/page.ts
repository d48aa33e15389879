import { constantTimeEqual, decodeBase64url, encodeBase64url, hmacSha256 } from './crypto'

/** One value of a list's sort key, as it was in the last row of a page. */
export type CursorValue = string | number | boolean | null

/** Where a page ended and which list it was a page of. */
export interface Position {
  /** The sort key of the last row, its id last. */
  values: readonly CursorValue[]
  /** A digest of all that selects and orders the list; a cursor opens only with the same. The page size stays out of it. */
  filterHash: string
}

/** The cursor was altered, cut, made with another key, or made for other filters or another order. */
export class InvalidCursor extends Error {
  readonly code = 'invalid_cursor'
  override readonly name = 'InvalidCursor'

  constructor() {
    super('The cursor is not one this list gave out. Ask again without it, with the same filters and sort on every page.')
  }
}

/**
 * The opaque cursor of the page that follows a position: base64url of a 16-byte HMAC-SHA256 tag and the values.
 * The values can be read by whoever unwraps it; they are what the page itself showed.
 * @throws TypeError when a value would not come back as it was (undefined, NaN, infinite).
 */
export function sealCursor(key: Uint8Array, { values, filterHash }: Position): string {
  for (const value of values) {
    const comes = value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
    if (!comes) throw new TypeError('A cursor holds strings, finite numbers, booleans and null only.')
  }
  const payload = Buffer.from(JSON.stringify(values))
  return encodeBase64url(Buffer.concat([tag(key, payload, filterHash), payload]))
}

/**
 * The values a cursor was sealed with.
 * @throws InvalidCursor when a single bit was altered, or the key or the filter hash is another.
 */
export function openCursor(key: Uint8Array, cursor: string, filterHash: string): CursorValue[] {
  const bytes = cursor.length <= longestCursor ? decodeBase64url(cursor) : null
  if (!bytes || bytes.length <= tagLength) throw new InvalidCursor()
  const payload = bytes.subarray(tagLength)
  if (!constantTimeEqual(bytes.subarray(0, tagLength), tag(key, payload, filterHash))) throw new InvalidCursor()
  // Past the tag these are our own bytes.
  return JSON.parse(Buffer.from(payload).toString()) as CursorValue[]
}

const tagLength = 16
// An order of a few columns, texts of up to 255 characters each, stays far below.
const longestCursor = 8_192

function tag(key: Uint8Array, payload: Uint8Array, filterHash: string): Uint8Array {
  // The label keeps this key's other uses apart; JSON quotes the hash, so no part can run into the next.
  const head = Buffer.from(`cursor.1.${JSON.stringify(filterHash)}.`)
  return hmacSha256(key, Buffer.concat([head, payload])).subarray(0, tagLength)
}
