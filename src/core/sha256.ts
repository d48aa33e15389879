// Without node:crypto, which takes 1 MB of memory, for the agent.

/** SHA-256 (FIPS 180-4) of text (as UTF-8) or bytes: 64 lowercase hex digits. */
export function sha256Hex(input: string | Uint8Array): string {
  return Bun.SHA256.hash(input, 'hex')
}

/** SHA-256 (FIPS 180-4) of text (as UTF-8) or bytes: 32 bytes. */
export function sha256(input: string | Uint8Array): Uint8Array {
  return Bun.SHA256.hash(input) as Uint8Array
}
