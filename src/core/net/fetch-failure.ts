import type { FetchStage, FetchTimings } from './fetch-timings'

export type FetchErrorClass = 'dns' | 'blocked_address' | 'connect' | 'tls' | 'timeout' | 'too_large' | 'aborted'

/**
 * A request without a complete response. The message may be shown to customers: it contains no IP address. `code` is the error code
 * of the client, if any (`ECONNREFUSED`, `CERT_HAS_EXPIRED`).
 */
export class FetchFailed extends Error {
  override readonly name = 'FetchFailed'
  constructor(
    readonly errorClass: FetchErrorClass,
    message: string,
    readonly timings: FetchTimings,
    readonly code: string | null = null,
  ) {
    super(message)
  }
}

/** Whether the server spoke TLS, but its certificate was rejected. */
export const isCertificateFailure = ({ code }: Pick<FetchFailed, 'code'>): boolean => code !== null && CERTIFICATE_CODE.test(code)

/** Maps errors of Bun's fetch to a class and a message. Bun's own messages contain the IP address and must not be shown. */
export function failureOf(
  error: unknown,
  stage: FetchStage,
  https: boolean,
): { errorClass: FetchErrorClass; message: string; code: string | null } {
  const code = codeOf(error)
  const failure = (errorClass: FetchErrorClass, message: string) => ({ errorClass, message, code })
  const known = code === null ? undefined : KNOWN[code]
  if (known) return failure(...known)
  if (code?.startsWith('HPE_')) return failure(...NOT_HTTP)
  if (code !== null && https && TLS_CODE.test(code)) return failure('tls', 'The TLS connection could not be established.')
  // Refused connections have their own code, so an https connection that was lost while connecting was lost in the handshake.
  if (stage === 'connecting' && https) return failure('tls', 'The server closed the connection during the TLS handshake.')
  if (stage === 'reading') return failure('connect', 'The server closed the connection before its response was complete.')
  return failure('connect', 'The server closed the connection without a response.')
}

function codeOf(error: unknown): string | null {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null
  return typeof code === 'string' ? code : null
}

const NAME: [FetchErrorClass, string] = ['tls', 'The server’s certificate is not valid for this hostname.']
const TIME: [FetchErrorClass, string] = ['tls', 'The server’s certificate has expired or is not valid yet.']
const SELF: [FetchErrorClass, string] = ['tls', 'The server’s certificate is self-signed.']
const ISSUER: [FetchErrorClass, string] = [
  'tls',
  'The server’s certificate is not signed by a trusted authority, or the server does not send the complete chain.',
]
const UNREACHABLE: [FetchErrorClass, string] = ['connect', 'The host could not be reached.']
const HEADERS: [FetchErrorClass, string] = ['too_large', 'The headers of the server’s response are too large.']
const NOT_HTTP: [FetchErrorClass, string] = ['connect', 'The server’s response is not valid HTTP.']

// Codes observed with Bun 1.4.5 (those of its node:http start with HPE_), and the verification codes of OpenSSL (X509_V_ERR_*, openssl-verification-options(1)).
const KNOWN: Record<string, [FetchErrorClass, string]> = {
  ECONNREFUSED: ['connect', 'The host refused the connection.'],
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  EADDRNOTAVAIL: UNREACHABLE,
  EACCES: UNREACHABLE,
  EPERM: UNREACHABLE,
  FailedToOpenSocket: UNREACHABLE,
  ETIMEDOUT: ['timeout', 'The connection timed out.'],
  Malformed_HTTP_Response: NOT_HTTP,
  InvalidHTTPResponse: NOT_HTTP,
  UnrequestedUpgrade: NOT_HTTP,
  ResponseHeadersTooLarge: HEADERS,
  HPE_HEADER_OVERFLOW: HEADERS,
  EPROTO: ['tls', 'The TLS handshake failed. The port may not support TLS.'],
  ERR_TLS_CERT_ALTNAME_INVALID: NAME,
  HOSTNAME_MISMATCH: NAME,
  CERT_HAS_EXPIRED: TIME,
  CERT_NOT_YET_VALID: TIME,
  DEPTH_ZERO_SELF_SIGNED_CERT: SELF,
  SELF_SIGNED_CERT_IN_CHAIN: ISSUER,
  UNABLE_TO_GET_ISSUER_CERT: ISSUER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ISSUER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ISSUER,
  CERT_UNTRUSTED: ISSUER,
  CERT_REVOKED: ['tls', 'The server’s certificate has been revoked.'],
}

const CERTIFICATE_CODE = /^(PIN_MISMATCH|ERR_TLS_CERT|HOSTNAME_MISMATCH|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/

const TLS_CODE =
  /^(ERR_TLS|ERR_SSL|CERT_|CRL_|UNABLE_TO_|ERROR_IN_C|INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED|AKID_|KEYUSAGE_|SUBJECT_ISSUER)/
