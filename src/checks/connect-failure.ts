import { EgressRefused } from '../core/net/egress'
import type { CertificateFacts, CheckErrorKind } from './check'
import { formatDuration } from './certificate'

/** Ends a check with an error kind and a one-line message. Contains no secret and no address blocked by policy. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed'
  constructor(
    readonly kind: CheckErrorKind,
    message: string,
  ) {
    super(message)
  }
}

/** Where a connection was when it failed. */
type ConnectStage = 'connecting' | 'handshake' | 'established'

/**
 * Maps a socket error to a check failure. Codes are errno(3) names and the BoringSSL codes that Bun 1.4.5 reports.
 * @param error whatever was thrown or emitted
 */
export function connectFailure(error: unknown, stage: ConnectStage): CheckFailed {
  if (error instanceof CheckFailed) return error
  if (error instanceof EgressRefused) return refusedByPolicy(error)
  const code = codeOf(error)
  const known = byCode[code]
  if (known) return new CheckFailed(...known)
  if (verification[code]) return new CheckFailed('certificate', verification[code])
  const alert = /^ERR_SSL_(?:SSLV3|TLSV1|TLSV13)_ALERT_(\w+)$/.exec(code)
  if (alert)
    return new CheckFailed(
      'tls',
      `the server closed the TLS connection with the alert "${alert[1]!.toLowerCase().replaceAll('_', ' ')}"`,
    )
  const ssl = /^ERR_SSL_(\w+)$/.exec(code)
  if (ssl) return new CheckFailed('tls', `TLS handshake failed: ${ssl[1]!.toLowerCase().replaceAll('_', ' ')}`)
  if (closedCodes.has(code)) return new CheckFailed('closed', closedAt[stage])
  if (stage === 'handshake') return new CheckFailed('tls', 'TLS handshake failed')
  if (stage === 'connecting') return new CheckFailed('unreachable', 'connection failed')
  return new CheckFailed('closed', closedAt[stage])
}

/**
 * Maps a certificate verification error to a check failure.
 * @param error an OpenSSL verification code (X509_V_ERR_*, openssl-verification-options(1)) or an error with one
 * @param name the expected server name
 * @param now ms UTC
 */
export function certificateFailure(error: unknown, certificate: CertificateFacts | null, name: string, now: number): CheckFailed {
  const code = typeof error === 'string' ? error : codeOf(error)
  if (code === 'CERT_HAS_EXPIRED') {
    const end = certificate?.not_after ?? Infinity
    if (end < now) return new CheckFailed('certificate', `certificate expired ${formatDuration(now - end)} ago`)
    return new CheckFailed('certificate', 'a certificate in the chain has expired')
  }
  if (code === 'CERT_NOT_YET_VALID') {
    const begin = certificate?.not_before ?? -Infinity
    if (begin > now) return new CheckFailed('certificate', `certificate is not valid for another ${formatDuration(begin - now)}`)
    return new CheckFailed('certificate', 'a certificate in the chain is not yet valid')
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' || code === 'HOSTNAME_MISMATCH') {
    const names = certificate?.names ?? []
    if (names.length === 0)
      return new CheckFailed('certificate', `certificate has no subject alternative names, so it is not valid for ${name}`)
    const listed = names.slice(0, 3).join(', ') + (names.length > 3 ? ' and others' : '')
    return new CheckFailed('certificate', `certificate is valid for ${listed.slice(0, 200)}, not ${name}`)
  }
  return new CheckFailed('certificate', verification[code] ?? `certificate is not trusted: ${wordsOf(code)}`)
}

/** The `code` of a Node error; empty if it has none. */
export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null
  return typeof code === 'string' ? code : ''
}

function refusedByPolicy(error: EgressRefused): CheckFailed {
  return new CheckFailed(error.errorClass === 'blocked_address' ? 'blocked_address' : 'dns', error.message)
}

const wordsOf = (code: string): string => (code === '' ? 'unknown reason' : code.toLowerCase().replaceAll('_', ' '))

const refused: [CheckErrorKind, string] = ['refused', 'connection refused']
const hostUnreachable: [CheckErrorKind, string] = ['unreachable', 'host unreachable']
const noRoute: [CheckErrorKind, string] = ['unreachable', 'network unreachable: no route to the address']
const notTls: [CheckErrorKind, string] = ['tls', 'the server does not speak TLS on this port']

const byCode: Record<string, [CheckErrorKind, string]> = {
  ECONNREFUSED: refused,
  EHOSTUNREACH: hostUnreachable,
  EHOSTDOWN: hostUnreachable,
  ENETUNREACH: noRoute,
  ENETDOWN: noRoute,
  EADDRNOTAVAIL: noRoute,
  EAFNOSUPPORT: noRoute,
  EACCES: ['unreachable', 'connection blocked by a local firewall rule'],
  EPERM: ['unreachable', 'connection blocked by a local firewall rule'],
  EMFILE: ['internal', 'too many open files in this process'],
  ENFILE: ['internal', 'too many open files on this machine'],
  ENOBUFS: ['internal', 'no buffer space available on this machine'],
  ETIMEDOUT: ['timeout', 'connection timed out'],
  ERR_SSL_WRONG_VERSION_NUMBER: notTls,
  ERR_SSL_HTTP_REQUEST: notTls,
  ERR_SSL_HTTPS_PROXY_REQUEST: notTls,
  ERR_SSL_UNSUPPORTED_PROTOCOL: ['tls', 'the server supports none of the accepted TLS versions'],
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: ['tls', 'the server supports none of the accepted TLS versions'],
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: ['tls', 'no TLS version or cipher suite in common with the server'],
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: ['tls', 'the server does not recognize the server name (SNI)'],
  ERR_SSL_TLSV1_ALERT_CERTIFICATE_REQUIRED: ['tls', 'the server requires a client certificate'],
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: ['tls', 'the server rejected the client certificate'],
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: ['tls', 'the server rejected the client certificate: unknown CA'],
  ERR_SSL_NO_APPLICATION_PROTOCOL: ['tls', 'the server supports none of the offered protocols (ALPN)'],
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: ['tls', 'the server supports none of the offered protocols (ALPN)'],
}

const closedCodes = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_SOCKET_CLOSED'])

const closedAt: Record<ConnectStage, string> = {
  connecting: 'the server closed the connection immediately',
  handshake: 'the server closed the connection during the TLS handshake',
  established: 'the server closed the connection before the response was complete',
}

const selfSigned = 'certificate is self-signed'
const unknownIssuer = 'certificate signed by unknown authority, or the server does not send the full chain'

const verification: Record<string, string> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: selfSigned,
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate chain ends in an untrusted root',
  UNABLE_TO_GET_ISSUER_CERT: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownIssuer,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownIssuer,
  CERT_UNTRUSTED: unknownIssuer,
  CERT_REVOKED: 'certificate has been revoked',
  CERT_SIGNATURE_FAILURE: 'a signature in the certificate chain is invalid',
  INVALID_CA: 'the certificate chain contains an issuer that is not a CA',
  INVALID_PURPOSE: 'certificate is not valid for server authentication',
  PATH_LENGTH_EXCEEDED: 'the certificate chain exceeds the path length of one of its CAs',
}
