import { createHmac, createPrivateKey, hash, randomBytes, timingSafeEqual, type KeyObject } from 'node:crypto'

/** SHA-256 (FIPS 180-4) of text (as UTF-8) or bytes: 64 lowercase hex digits. */
export function sha256Hex(input: string | Uint8Array): string {
  return hash('sha256', input, 'hex')
}

/** SHA-256 (FIPS 180-4) of text (as UTF-8) or bytes: 32 bytes. */
export function sha256(input: string | Uint8Array): Uint8Array {
  return hash('sha256', input, 'buffer')
}

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

/** The 62 digits of base62 in order of value: 0-9, A-Z, a-z. */
export const base62Alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** `length` random base62 characters with uniform distribution: 5.954 bits of entropy each. */
export const randomBase62 = (length: number): string => randomOf(base62Alphabet, length)

/** `length` random characters of an alphabet of at most 256 characters, with uniform distribution. */
export function randomOf(alphabet: string, length: number): string {
  // Reject bytes from the largest multiple of the alphabet size on, to avoid modulo bias.
  const bound = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length + 8)) {
      if (byte < bound && text.length < length) text += alphabet[byte % alphabet.length]
    }
  }
  return text
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
