import { constantTimeEqual, decodeBase64url, encodeBase64url, hmacSha256 } from './crypto'

/** A value of the sort key of the last row of a page. */
export type CursorValue = string | number | boolean | null

/** Where a page ended, and in which list. */
interface Position {
  /** The sort key of the last row, with its id last. */
  values: readonly CursorValue[]
  /** Hash of the list, its filters and sort order. A cursor is only valid with the same hash. Excludes the page size. */
  filterHash: string
}

/** The cursor was tampered with, or belongs to another key, filter or sort order. */
export class InvalidCursor extends Error {
  readonly code = 'invalid_cursor'
  override readonly name = 'InvalidCursor'

  constructor() {
    super('The cursor does not belong to this list. Request the first page without a cursor, and keep filters and sort the same.')
  }
}

/**
 * Encodes the cursor of the page after a position: base64url of a 16-byte HMAC-SHA256 tag and the values. The values are not
 * secret: the page itself contains them.
 * @throws TypeError for a value that JSON can't represent (undefined, NaN, infinite)
 */
export function sealCursor(key: Uint8Array, { values, filterHash }: Position): string {
  for (const value of values) {
    const isStorable = value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
    if (!isStorable) throw new TypeError('A cursor can only contain strings, finite numbers, booleans, and null.')
  }
  const payload = Buffer.from(JSON.stringify(values))
  return encodeBase64url(Buffer.concat([tag(key, payload, filterHash), payload]))
}

/**
 * Decodes a cursor.
 * @throws InvalidCursor if it was changed, or if the key or the filter hash differs
 */
export function openCursor(key: Uint8Array, cursor: string, filterHash: string): CursorValue[] {
  const bytes = cursor.length <= maxCursorLength ? decodeBase64url(cursor) : null
  if (!bytes || bytes.length <= tagLength) throw new InvalidCursor()
  const payload = bytes.subarray(tagLength)
  if (!constantTimeEqual(bytes.subarray(0, tagLength), tag(key, payload, filterHash))) throw new InvalidCursor()
  // The tag proves that we wrote these bytes.
  return JSON.parse(Buffer.from(payload).toString()) as CursorValue[]
}

const tagLength = 16
// Far above what a few columns with 255 characters each need.
const maxCursorLength = 8_192

function tag(key: Uint8Array, payload: Uint8Array, filterHash: string): Uint8Array {
  // The label separates other uses of this key. JSON quotes the hash, so the parts can't be confused.
  const head = Buffer.from(`cursor.1.${JSON.stringify(filterHash)}.`)
  return hmacSha256(key, Buffer.concat([head, payload])).subarray(0, tagLength)
}
