/**
 * Parses a SHA-256 fingerprint of a certificate, in hexadecimal with or without colons. Returns it in lowercase without colons; null if
 * it is invalid.
 */
export function parseFingerprint(text: string): string | null {
  const hex = text.trim().replaceAll(':', '').toLowerCase()
  return /^[0-9a-f]{64}$/.test(hex) ? hex : null
}
