import { createHash } from 'node:crypto'
import { request as sendRequest, type IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import type { VettedHost } from './egress'
import { PinMismatch } from './pin-mismatch'

/** Computes the SHA-256 fingerprint of a certificate. @param raw its DER */
export const fingerprintOf = ({ raw }: { raw: Uint8Array }): string => createHash('sha256').update(raw).digest('hex')

/** A request as sent. */
interface PinnedRequest {
  method: string
  /** All of them, including Host. */
  headers: Headers
  /** Null for methods without a body. */
  body: string | Uint8Array | null
  clientCertificate?: { cert: string; key: string }
  /** Closes the connection. */
  signal: AbortSignal
}

/**
 * Sends a request on a connection of its own whose certificate was compared with a fingerprint. The `ca` and `checkServerIdentity` of
 * fetch don't suffice: they reject pinned certificates that expired or that a private CA issued, and without verification, Bun's fetch
 * ignores `checkServerIdentity`.
 * @param onConnected called when the certificate was accepted
 * @throws PinMismatch
 */
export async function fetchPinned(
  vetted: VettedHost & { url: URL },
  pin: string,
  request: PinnedRequest,
  onConnected: () => void,
): Promise<{ status: number; statusText: string; headers: Headers; body: AsyncIterable<Uint8Array> }> {
  const socket = await openTls(vetted, request)
  const seen = fingerprintOf(socket.getPeerCertificate())
  if (seen !== pin) {
    socket.destroy()
    throw new PinMismatch(seen, pin)
  }
  onConnected()
  const response = await sendOn(socket, `${vetted.url.pathname}${vetted.url.search}`, request)
  const headers = new Headers()
  for (let at = 0; at + 1 < response.rawHeaders.length; at += 2)
    headers.append(response.rawHeaders[at]!, response.rawHeaders[at + 1]!)
  return { status: response.statusCode!, statusText: response.statusMessage ?? '', headers, body: response }
}

/**
 * Opens a TLS connection, by default without verifying the certificate: then nothing may be sent before the certificate was compared.
 * @param isVerified whether the certificate must be valid for the host, and issued by a public CA
 */
export function openTls(
  { host, address, port }: VettedHost,
  {
    clientCertificate,
    signal,
    isVerified = false,
  }: Pick<PinnedRequest, 'clientCertificate' | 'signal'> & { isVerified?: boolean },
): Promise<TLSSocket> {
  const options: ConnectionOptions = {
    host: address,
    port,
    rejectUnauthorized: isVerified,
    // SNI doesn't allow IP addresses (RFC 6066 section 3).
    ...(isIP(host) === 0 && { servername: host }),
    ...clientCertificate,
  }
  return new Promise((resolve, reject) => {
    const socket = connect(options)
    const abort = () => socket.destroy(new Error('aborted'))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    socket.once('secureConnect', () => resolve(socket))
    socket.on('error', reject)
    socket.once('close', () => {
      signal.removeEventListener('abort', abort)
      reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' }))
    })
  })
}

function sendOn(socket: TLSSocket, path: string, { method, headers, body }: PinnedRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = sendRequest({
      createConnection: () => socket,
      method,
      path,
      setHost: false,
      headers: {
        ...Object.fromEntries(headers),
        connection: 'close',
        ...(body !== null && { 'content-length': String(Buffer.byteLength(body)) }),
      },
    })
    request.on('error', reject)
    request.once('upgrade', () => reject(Object.assign(new Error('upgrade'), { code: 'UnrequestedUpgrade' })))
    request.once('response', response => {
      // A later failure, even in the same packet, is reported to the reader of the body.
      response.on('error', () => {})
      request.on('error', error => response.destroy(error))
      resolve(response)
    })
    request.end(body ?? undefined)
  })
}
