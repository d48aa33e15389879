/**
 * Octets that are not of TLS, break its rules, or exceed a limit. The readers of this folder throw no other errors for any input. The
 * message continues "the server": `sent a record of 65535 bytes`.
 */
export class TlsFormatError extends Error {
  override readonly name = 'TlsFormatError'
}
