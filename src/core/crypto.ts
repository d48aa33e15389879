import { createHmac, createPrivateKey, timingSafeEqual, type KeyObject } from 'node:crypto'

export { base62Alphabet, randomBase62, randomOf } from './random'
export { sha256, sha256Hex } from './sha256'

/** HMAC-SHA256 (RFC 2104): 32 bytes. Text is encoded as UTF-8. */
export function hmacSha256(key: string | Uint8Array, message: string | Uint8Array): Uint8Array {
  return createHmac('sha256', key).update(message).digest()
}

/** The private Ed25519 key (RFC 8032) of a 32-byte seed. */
export function signingKey(seed: Uint8Array): KeyObject {
  // PKCS #8 as in RFC 8410 section 7: a fixed header, then the seed.
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
}

/**
 * Compares two secrets (text as UTF-8) in constant time. Returns immediately if the lengths differ, so use it only where the
 * length is public: digests, tokens of fixed length.
 */
export function constantTimeEqual(a: string | Uint8Array, b: string | Uint8Array): boolean {
  const left = typeof a === 'string' ? Buffer.from(a) : a
  const right = typeof b === 'string' ? Buffer.from(b) : b
  return left.byteLength === right.byteLength && timingSafeEqual(left, right)
}

/** Base64url without padding (RFC 4648 section 5). */
export function encodeBase64url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url')
}

/**
 * Decodes unpadded base64url (RFC 4648 section 5); null if invalid. Accepts only the canonical form (no padding, no other
 * alphabet, no white space, unused bits zero; section 3.5), so that no two texts decode to the same bytes.
 */
export function decodeBase64url(text: string): Uint8Array | null {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : null
}
