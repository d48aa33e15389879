import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { version } from '../version'
import { connectionHeaders } from './connection-headers'
import { type Egress, EgressRefused, type NetworkPolicy, type VettedHost } from './egress'
import { failureOf, FetchFailed, type FetchErrorClass } from './fetch-failure'
import { type FetchTimings, stopwatch } from './fetch-timings'
import { lifetime } from './request-lifetime'

/**
 * `headers`: connection headers (Host, Content-Length, Transfer-Encoding, …) are ignored and set here. `ca`: PEM certificates to
 * trust instead of the built-in roots. `signal` aborts the request.
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
 * `connectMs` (default 5,000) limits TCP and TLS, except for GET and HEAD, where the time of the connection is unknown. `totalMs`
 * (default 15,000) limits everything from the DNS query to the last byte of the body. At most `maxBodyBytes` (default 64 KiB) of the body
 * are read, and the first `maxReturnedBytes` (default all) returned. `overflow`: a longer body is truncated (`drop`, the default) or an error
 * (`fail`).
 */
export type FetchLimits = {
  connectMs?: number
  totalMs?: number
  maxBodyBytes?: number
  maxReturnedBytes?: number
  overflow?: 'drop' | 'fail'
}

/**
 * `body` contains the bytes as sent, never decompressed; `bodyTruncated` is true if there were more. `address` is the IP address that
 * was connected to; show it to operators only.
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
 * Sends one HTTP request to an address that was resolved and checked for it. Redirects are not followed. Proxies from the environment
 * are not used, and certificates are always verified against the host of the URL.
 * Throws FetchFailed, or a TypeError for headers that HTTP does not allow.
 */
export async function guardedFetch(
  request: GuardedRequest,
  { egress, policy, limits = {} }: { egress: Egress; policy: NetworkPolicy; limits?: FetchLimits },
): Promise<GuardedResponse> {
  const { connectMs = 5000, totalMs = 15_000, maxBodyBytes = 65_536, overflow = 'drop' } = limits
  const maxReturnedBytes = Math.min(limits.maxReturnedBytes ?? maxBodyBytes, maxBodyBytes)
  const method = request.method ?? 'GET'
  const takesBody = method !== 'GET' && method !== 'HEAD'
  if (!takesBody && request.body !== undefined) throw new TypeError(`a ${method} request has no body`)
  const headers = new Headers(request.headers)
  for (const name of ['host', ...connectionHeaders]) headers.delete(name)
  if (!headers.has('User-Agent')) headers.set('User-Agent', `Bailiwick/${version}`)

  const timer = stopwatch()
  const life = lifetime(request.signal)
  const fail = (errorClass: FetchErrorClass, message: string, code: string | null = null) =>
    new FetchFailed(errorClass, message, timer.timings(), code)
  life.after(totalMs, 'The request timed out.')
  let connectTimer: Timer | undefined
  let https = false
  try {
    const vetted = await life.orEnd(egress.vetUrl(request.url, policy))
    timer.resolved()
    https = vetted.url.protocol === 'https:'
    if (https && request.ca !== undefined && !isCertificate(request.ca)) {
      throw fail('tls', 'The CA certificate is invalid.')
    }

    if (takesBody) connectTimer = life.after(connectMs, 'The connection timed out.')
    const onConnected = () => {
      clearTimeout(connectTimer)
      timer.connected()
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
    timer.answered()

    const { body, seen } = await readBody(response, maxBodyBytes, maxReturnedBytes)
    if (seen > maxBodyBytes) {
      life.end('aborted', 'The rest of the body is not needed.')
      if (overflow === 'fail') throw fail('too_large', `The server’s response is larger than ${maxBodyBytes} bytes.`)
    }
    const { address, family } = vetted
    const { status } = response
    const bodyTruncated = seen > body.byteLength
    return { status, headers: response.headers, body, bodyTruncated, timings: timer.timings(), address, addressFamily: family }
  } catch (error) {
    if (error instanceof FetchFailed) throw error
    if (life.reason) throw fail(life.reason.errorClass, life.reason.message)
    if (error instanceof EgressRefused) throw fail(error.errorClass === 'dns' ? 'dns' : 'blocked_address', error.message)
    const stage = timer.stage()
    const { errorClass, message, code } = failureOf(error, stage === 'connecting' && !takesBody ? 'waiting' : stage, https)
    throw fail(errorClass, message, code)
  } finally {
    clearTimeout(connectTimer)
    life.release()
  }
}

/**
 * Returns the body as a stream, because fetch reads it as soon as it is connected: the only way to observe that moment. The length is
 * set, so the request is not chunked.
 */
function observedBody(body: GuardedRequest['body'] = '', headers: Headers, onConnected: () => void): ReadableStream {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  headers.set('content-length', String(bytes.byteLength))
  // A direct stream costs half as much as one with a queue.
  const source: Bun.DirectUnderlyingSource<Uint8Array> = {
    type: 'direct',
    pull(controller) {
      onConnected()
      if (bytes.byteLength > 0) controller.write(bytes)
      controller.end()
    },
  }
  return new ReadableStream(source as unknown as UnderlyingDefaultSource)
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
    // SNI doesn't allow IP addresses (RFC 6066 section 3). Without a name, the certificate is verified against the IP address.
    ...(isIP(host) === 0 && { serverName: host }),
    ...(ca !== undefined && { ca }),
    ...clientCertificate,
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment does not disable verification.
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

/** Reads until the end or past the limit. If `seen` is greater than `maxBodyBytes`, there was more. */
async function readBody(
  response: Response,
  maxBodyBytes: number,
  maxReturnedBytes: number,
): Promise<{ body: Uint8Array<ArrayBuffer>; seen: number }> {
  const chunks: Uint8Array[] = []
  let seen = 0
  const reader = response.body?.getReader()
  while (reader && seen <= maxBodyBytes) {
    const { done, value } = await reader.read()
    if (done) break
    if (seen < maxReturnedBytes) chunks.push(value.subarray(0, maxReturnedBytes - seen))
    seen += value.byteLength
  }
  return { body: new Uint8Array(Buffer.concat(chunks)), seen }
}
