import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { version } from '../version'
import { connectionHeaders } from './connection-headers'
import { type Egress, EgressRefused, type NetworkPolicy, type VettedHost } from './egress'
import { failureOf, FetchFailed, type FetchErrorClass } from './fetch-failure'
import { type FetchTimings, stopwatch } from './fetch-timings'
import { lifetime } from './request-lifetime'

/**
 * `headers`: those that belong to the connection (Host, Content-Length, Transfer-Encoding and their like) are set here
 * and dropped from what is given. `ca`: PEM certificates trusted instead of the built-in roots. `signal` gives up early.
 */
export type GuardedRequest = {
  url: string
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  headers?: Headers | Record<string, string> | [string, string][]
  body?: string | Uint8Array<ArrayBuffer>
  ca?: string
  clientCertificate?: { cert: string; key: string }
  signal?: AbortSignal
}

/**
 * `connectMs` (default 5,000) bounds TCP and TLS; a GET or HEAD has no moment at which a connection is known to stand,
 * so `totalMs` alone bounds those. `totalMs` (default 15,000) bounds everything from the DNS question to the last byte
 * of the body. At most `bodyBytes` (default 64 KiB) of the body are read, the first `keepBytes` (default all) returned.
 * `overflow` says what a longer body is: cut short and dropped (`drop`, the default), or a failure (`fail`).
 */
export type FetchLimits = {
  connectMs?: number
  totalMs?: number
  bodyBytes?: number
  keepBytes?: number
  overflow?: 'drop' | 'fail'
}

/**
 * `body` holds the bytes as sent, never decompressed; `bodyTruncated` is true when there were more. `address` is the
 * one dialled: for operators' eyes only.
 */
export type GuardedResponse = {
  status: number
  headers: Headers
  body: Uint8Array<ArrayBuffer>
  bodyTruncated: boolean
  timings: FetchTimings
  address: string
  addressFamily: 4 | 6
}

/**
 * Makes one HTTP request to an address that was resolved and vetted for it, and follows nothing: a redirect is an answer
 * like any other. No proxy from the environment is used and certificates are always verified against the URL's host.
 * Throws FetchFailed; a header that HTTP does not allow is a TypeError of the caller's making.
 */
export async function guardedFetch(
  request: GuardedRequest,
  { egress, policy, limits = {} }: { egress: Egress; policy: NetworkPolicy; limits?: FetchLimits },
): Promise<GuardedResponse> {
  const { connectMs = 5000, totalMs = 15_000, bodyBytes = 65_536, overflow = 'drop' } = limits
  const keepBytes = Math.min(limits.keepBytes ?? bodyBytes, bodyBytes)
  const method = request.method ?? 'GET'
  const takesBody = method !== 'GET' && method !== 'HEAD'
  if (!takesBody && request.body !== undefined) throw new TypeError(`a ${method} request carries no body`)
  const headers = new Headers(request.headers)
  for (const name of ['host', ...connectionHeaders]) headers.delete(name)
  if (!headers.has('User-Agent')) headers.set('User-Agent', `Bailiwick/${version}`)

  const watch = stopwatch()
  const life = lifetime(request.signal)
  const fail = (errorClass: FetchErrorClass, message: string, code: string | null = null) =>
    new FetchFailed(errorClass, message, watch.timings(), code)
  life.after(totalMs, 'The request took longer than its time limit.')
  let connectTimer: Timer | undefined
  let https = false
  try {
    const vetted = await life.orEnd(egress.vetUrl(request.url, policy))
    watch.resolved()
    https = vetted.url.protocol === 'https:'
    if (https && request.ca !== undefined && !isCertificate(request.ca)) {
      throw fail('tls', 'The given CA certificate cannot be read.')
    }

    if (takesBody) connectTimer = life.after(connectMs, 'The connection could not be made in time.')
    const onConnected = () => {
      clearTimeout(connectTimer)
      watch.connected()
    }
    headers.set('host', hostHeader(vetted))
    const response = await fetch(pinnedUrl(vetted), {
      method,
      headers,
      body: takesBody ? observedBody(request.body, headers, onConnected) : null,
      redirect: 'manual',
      proxy: false,
      decompress: false,
      signal: life.signal,
      ...(https && { tls: tlsOptions(vetted, request) }),
    })
    clearTimeout(connectTimer)
    watch.answered()

    const { body, seen } = await readBody(response, bodyBytes, keepBytes)
    if (seen > bodyBytes) {
      life.end('aborted', 'The rest of the body is not wanted.')
      if (overflow === 'fail') throw fail('too_large', `The server's answer is larger than ${bodyBytes} bytes.`)
    }
    const { address, family } = vetted
    const { status } = response
    const bodyTruncated = seen > body.byteLength
    return { status, headers: response.headers, body, bodyTruncated, timings: watch.timings(), address, addressFamily: family }
  } catch (error) {
    if (error instanceof FetchFailed) throw error
    if (life.reason) throw fail(life.reason.errorClass, life.reason.message)
    if (error instanceof EgressRefused) throw fail(error.errorClass === 'dns' ? 'dns' : 'blocked_address', error.message)
    const stage = watch.stage()
    const { errorClass, message, code } = failureOf(error, stage === 'connecting' && !takesBody ? 'waiting' : stage, https)
    throw fail(errorClass, message, code)
  } finally {
    clearTimeout(connectTimer)
    life.release()
  }
}

/**
 * The body as a stream, because the client asks a stream for its bytes exactly when the connection stands: the one
 * moment between start and answer that fetch lets one see. The length is set, so the request is not chunked.
 */
function observedBody(body: GuardedRequest['body'] = '', headers: Headers, onConnected: () => void): ReadableStream {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  headers.set('content-length', String(bytes.byteLength))
  return new ReadableStream(
    {
      pull(controller) {
        onConnected()
        if (bytes.byteLength > 0) controller.enqueue(bytes)
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

function pinnedUrl({ url, address, family, port }: VettedHost & { url: URL }): string {
  const host = family === 6 ? `[${address}]` : address
  return `${url.protocol}//${host}:${port}${url.pathname}${url.search}`
}

function hostHeader({ url, host }: VettedHost & { url: URL }): string {
  const name = isIP(host) === 6 ? `[${host}]` : host
  return url.port === '' ? name : `${name}:${url.port}`
}

function tlsOptions({ host }: VettedHost, { ca, clientCertificate }: GuardedRequest): BunFetchRequestInitTLS {
  return {
    // SNI has no IP addresses (RFC 6066 3); without a name the certificate is checked against the address dialled.
    ...(isIP(host) === 0 && { serverName: host }),
    ...(ca !== undefined && { ca }),
    ...clientCertificate,
    // Given outright, or NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would switch verification off.
    rejectUnauthorized: true,
  }
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.byteLength > 0
  } catch {
    return false
  }
}

/** Reads until the end or one byte over the limit; `seen` over `bodyBytes` says there was more. */
async function readBody(
  response: Response,
  bodyBytes: number,
  keepBytes: number,
): Promise<{ body: Uint8Array<ArrayBuffer>; seen: number }> {
  const kept: Uint8Array[] = []
  let seen = 0
  const reader = response.body?.getReader()
  while (reader && seen <= bodyBytes) {
    const { done, value } = await reader.read()
    if (done) break
    if (seen < keepBytes) kept.push(value.subarray(0, keepBytes - seen))
    seen += value.byteLength
  }
  return { body: new Uint8Array(Buffer.concat(kept)), seen }
}
