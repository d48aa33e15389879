import { EgressRefused } from '../core/net/egress'
import type { CertificateFacts, CheckErrorKind } from './check'
import { spanText } from './certificate'

/** What ends a check: the kind and the line for people. It holds no secret and no address that the policy closes. */
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
export type ConnectStage = 'connecting' | 'handshake' | 'talking'

/**
 * The failure that an error of a socket stands for. Codes are those of errno(3), and of BoringSSL as Bun 1.4.5 gives them.
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
    return new CheckFailed('tls', `the server ended TLS with the alert "${alert[1]!.toLowerCase().replaceAll('_', ' ')}"`)
  const ssl = /^ERR_SSL_(\w+)$/.exec(code)
  if (ssl) return new CheckFailed('tls', `the TLS handshake failed: ${ssl[1]!.toLowerCase().replaceAll('_', ' ')}`)
  if (closedCodes.has(code)) return new CheckFailed('closed', closedAt[stage])
  if (stage === 'handshake') return new CheckFailed('tls', 'the TLS handshake failed')
  if (stage === 'connecting') return new CheckFailed('unreachable', 'no connection could be made')
  return new CheckFailed('closed', closedAt[stage])
}

/**
 * Why a certificate is not trusted.
 * @param error of the verification: a code of OpenSSL (X509_V_ERR_*, openssl-verification-options(1)) or an error with one
 * @param name that it was to be for
 * @param now ms UTC
 */
export function certificateFailure(error: unknown, certificate: CertificateFacts | null, name: string, now: number): CheckFailed {
  const code = typeof error === 'string' ? error : codeOf(error)
  if (code === 'CERT_HAS_EXPIRED') {
    const end = certificate?.not_after ?? Infinity
    if (end < now) return new CheckFailed('certificate', `certificate expired ${spanText(now - end)} ago`)
    return new CheckFailed('certificate', 'a certificate of the chain has expired')
  }
  if (code === 'CERT_NOT_YET_VALID') {
    const begin = certificate?.not_before ?? -Infinity
    if (begin > now) return new CheckFailed('certificate', `certificate is valid in ${spanText(begin - now)} only`)
    return new CheckFailed('certificate', 'a certificate of the chain is not valid yet')
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' || code === 'HOSTNAME_MISMATCH') {
    const names = certificate?.names ?? []
    const listed = names.length === 0 ? 'no name' : names.slice(0, 3).join(', ') + (names.length > 3 ? ' and others' : '')
    return new CheckFailed('certificate', `certificate is for ${listed.slice(0, 200)}, not for ${name}`)
  }
  return new CheckFailed('certificate', verification[code] ?? `certificate is not trusted: ${wordsOf(code)}`)
}

/** The first of the codes that errors of Node have; empty when there is none. */
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
const noRoute: [CheckErrorKind, string] = ['unreachable', 'network unreachable: there is no route to the address from here']
const notTls: [CheckErrorKind, string] = ['tls', 'the server does not speak TLS on this port']

const byCode: Record<string, [CheckErrorKind, string]> = {
  ECONNREFUSED: refused,
  EHOSTUNREACH: hostUnreachable,
  EHOSTDOWN: hostUnreachable,
  ENETUNREACH: noRoute,
  ENETDOWN: noRoute,
  EADDRNOTAVAIL: noRoute,
  EAFNOSUPPORT: noRoute,
  EACCES: ['unreachable', 'connection forbidden by a rule of this machine'],
  EPERM: ['unreachable', 'connection forbidden by a rule of this machine'],
  EMFILE: ['internal', 'too many files are open in this program'],
  ENFILE: ['internal', 'too many files are open on this machine'],
  ENOBUFS: ['internal', 'this machine has no memory left for connections'],
  ETIMEDOUT: ['timeout', 'the connection was not answered'],
  ERR_SSL_WRONG_VERSION_NUMBER: notTls,
  ERR_SSL_HTTP_REQUEST: notTls,
  ERR_SSL_HTTPS_PROXY_REQUEST: notTls,
  ERR_SSL_UNSUPPORTED_PROTOCOL: ['tls', 'the server speaks no version of TLS that is accepted'],
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: ['tls', 'the server speaks no version of TLS that is accepted'],
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: ['tls', 'server and client have no cipher or version of TLS in common'],
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: ['tls', 'the server does not know the name'],
  ERR_SSL_TLSV1_ALERT_CERTIFICATE_REQUIRED: ['tls', 'the server wants a client certificate'],
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: ['tls', 'the server refuses the client certificate'],
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: ['tls', 'the server refuses the client certificate: its issuer is unknown to it'],
  ERR_SSL_NO_APPLICATION_PROTOCOL: ['tls', 'the server speaks none of the protocols that were offered (ALPN)'],
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: ['tls', 'the server speaks none of the protocols that were offered (ALPN)'],
}

const closedCodes = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_SOCKET_CLOSED'])

const closedAt: Record<ConnectStage, string> = {
  connecting: 'the server closed the connection at once',
  handshake: 'the server closed the connection during the TLS handshake',
  talking: 'the server closed the connection before its answer was complete',
}

const selfSigned = 'certificate is self-signed'
const unknownIssuer = 'certificate is not signed by a trusted authority, or the server does not send the whole chain'

const verification: Record<string, string> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: selfSigned,
  SELF_SIGNED_CERT_IN_CHAIN: 'the chain ends at an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownIssuer,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownIssuer,
  CERT_UNTRUSTED: unknownIssuer,
  CERT_REVOKED: 'certificate has been revoked',
  CERT_SIGNATURE_FAILURE: 'a signature in the chain is wrong',
  INVALID_CA: 'the chain holds a certificate that may not sign others',
  INVALID_PURPOSE: 'certificate is not for servers',
  PATH_LENGTH_EXCEEDED: 'the chain is longer than one of its authorities allows',
}
