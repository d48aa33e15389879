// Without node:crypto, which takes 1 MB of memory, for the agent.

/** A call of `getRandomValues` returns at most this many bytes (Web Cryptography API, section 10.1.1). */
const maxBytes = 65_536

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
    for (const byte of crypto.getRandomValues(new Uint8Array(Math.min(length - text.length + 8, maxBytes)))) {
      if (byte < bound && text.length < length) text += alphabet[byte % alphabet.length]
    }
  }
  return text
}
