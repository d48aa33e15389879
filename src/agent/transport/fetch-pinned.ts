import type { Socket } from 'bun'
import { sha256Hex } from '../../core/sha256'
import { PinMismatch } from '../../core/net/pin-mismatch'
import { ResponseReader } from './response-reader'

/** A request to the hub. The hub may take `waitMs`; at most `maxBodyBytes` of its response are read. */
export interface Asked {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body: Uint8Array<ArrayBuffer> | null
  isOnNewConnection?: boolean
  waitMs: number
  maxBodyBytes: number
}

/** A complete response, not compressed. */
export interface Received {
  status: number
  headers: Headers
  body: Uint8Array
}

/**
 * Sends a request on a connection of its own, after its certificate was compared with a fingerprint. With sockets of Bun instead of
 * node:tls and node:http, the agent needs 4 MB less memory.
 * @param tooLarge creates the error for a body of more than `maxBodyBytes`
 * @param onResponse called with the headers of the response
 * @throws PinMismatch, Error
 */
export async function fetchPinned(
  url: URL,
  pin: string,
  { method, headers, body, signal, maxBodyBytes }: Omit<Asked, 'path' | 'waitMs'> & { signal: AbortSignal },
  { tooLarge, onResponse }: { tooLarge: () => Error; onResponse: () => void },
): Promise<Received> {
  const reader = new ResponseReader(maxBodyBytes, tooLarge)
  const { promise, resolve, reject } = Promise.withResolvers<Received>()
  let unsent: Uint8Array = requestBytes(url, method, headers, body)
  const write = (socket: Socket) => {
    if (unsent.length > 0) unsent = unsent.subarray(socket.write(unsent))
  }
  const read = (change: () => void) => {
    try {
      change()
      if (reader.status !== null) onResponse()
      if (reader.isComplete) resolve({ status: reader.status!, headers: reader.headers, body: reader.body })
    } catch (error) {
      reject(error)
    }
  }
  const address = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const isName = !/^[\d.]+$|:/.test(address)
  let isAccepted = false
  const connection = Bun.connect({
    hostname: address,
    port: Number(url.port || 443),
    // Nothing is sent before the certificate was compared. SNI doesn't allow IP addresses (RFC 6066 section 3).
    tls: { rejectUnauthorized: false, ...(isName && { serverName: address }) },
    socket: {
      handshake(socket) {
        const raw = (socket.getPeerCertificate() as { raw?: Uint8Array } | null)?.raw
        if (!raw) return reject(Object.assign(new Error('The TLS handshake failed.'), { code: 'EPROTO' }))
        const seen = sha256Hex(raw)
        if (seen !== pin) return reject(new PinMismatch(seen, pin))
        isAccepted = true
        write(socket)
      },
      drain: socket => void (isAccepted && write(socket)),
      data: (_, bytes) => read(() => reader.add(bytes)),
      end: () => read(() => reader.end()),
      close() {
        read(() => reader.end())
        reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' }))
      },
      error: (_, error) => reject(error),
    },
  })
  connection.catch(reject)
  const abort = () => reject(new Error('aborted'))
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', abort)
    void connection.then(
      socket => socket.terminate(),
      () => {},
    )
  }
}

function requestBytes({ host, pathname, search }: URL, method: string, headers: Record<string, string>, body: Uint8Array | null) {
  // Rejects names and values that can’t be sent.
  const all = new Headers({ ...headers, Host: host, Connection: 'close' })
  if (body !== null) all.set('Content-Length', String(body.byteLength))
  const lines = [...all].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.concat([Buffer.from(`${method} ${pathname}${search} HTTP/1.1\r\n${lines}\r\n`), body ?? new Uint8Array(0)])
}
