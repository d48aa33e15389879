import { isIP } from 'node:net'
import { version } from '../version'
import { connectionHeaders } from './connection-headers'
import { type Egress, EgressRefused, type NetworkPolicy, type VettedHost } from './egress'
import { failureOf, FetchFailed, type FetchErrorClass } from './fetch-failure'
import { type FetchTimings, stopwatch } from './fetch-timings'
import { parseFingerprint } from './fingerprint'
import { isCertificate } from './pem'
import { PinMismatch } from './pin-mismatch'
import { fetchPinned, fingerprintOf, openTls } from './pinned-fetch'
import { lifetime } from './request-lifetime'

/**
 * `headers`: connection headers (Host, Content-Length, Transfer-Encoding, …) are ignored and set here. `ca`: PEM certificates to
 * trust instead of the built-in roots. `pin`: SHA-256 fingerprint of the only certificate that is accepted, whatever its name, issuer and
 * dates. `signal` aborts the request.
 */
export type GuardedRequest = {
  url: string
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  headers?: Headers | Record<string, string> | [string, string][]
  body?: string | Uint8Array<ArrayBuffer>
  ca?: string
  pin?: string
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
 * `reason` is the phrase of the status line. `body` contains the bytes as sent, never decompressed; `bodyTruncated` is true if there were more. `address` is the IP address that
 * was connected to; show it to operators only.
 */
export type GuardedResponse = {
  status: number
  reason: string
  headers: Headers
  body: Uint8Array<ArrayBuffer>
  bodyTruncated: boolean
  timings: FetchTimings
  address: string
  addressFamily: 4 | 6
}

/** What an outgoing request follows. */
type Guard = { egress: Egress; policy: NetworkPolicy; limits?: FetchLimits }

/**
 * Sends one HTTP request to an address that was resolved and checked for it. Redirects are not followed. Proxies from the environment
 * are not used, and certificates are always verified: against the host of the URL, or the pinned fingerprint.
 * Throws FetchFailed, or a TypeError for headers that HTTP does not allow.
 */
export async function guardedFetch(request: GuardedRequest, guard: Guard): Promise<GuardedResponse> {
  const { maxBodyBytes = 65_536, overflow = 'drop', connectMs = 5000 } = guard.limits ?? {}
  const maxReturnedBytes = Math.min(guard.limits?.maxReturnedBytes ?? maxBodyBytes, maxBodyBytes)
  const method = request.method ?? 'GET'
  const takesBody = method !== 'GET' && method !== 'HEAD'
  if (!takesBody && request.body !== undefined) throw new TypeError(`a ${method} request has no body`)
  const pin = request.pin === undefined ? null : parseFingerprint(request.pin)
  if (pin === null && request.pin !== undefined) throw new TypeError('the pin is not a SHA-256 fingerprint')
  const headers = new Headers(request.headers)
  for (const name of ['host', ...connectionHeaders]) headers.delete(name)
  if (!headers.has('User-Agent')) headers.set('User-Agent', `Bailiwick/${version}`)

  const seesConnect = takesBody || pin !== null
  return await guarded(request, guard, seesConnect, async ({ vetted, life, timer, fail }) => {
    const https = vetted.url.protocol === 'https:'
    if (https && request.ca !== undefined && !isCertificate(request.ca)) {
      throw fail('tls', 'The CA certificate is invalid.')
    }
    if (!https && pin !== null) throw fail('tls', 'The URL must use https, because its certificate is pinned.')

    const connectTimer = seesConnect ? life.after(connectMs, 'The connection timed out.') : undefined
    const onConnected = () => {
      clearTimeout(connectTimer)
      timer.connected()
    }
    headers.set('host', hostHeader(vetted))
    const body = takesBody ? (request.body ?? '') : null
    const response =
      pin === null
        ? await fetch(pinnedUrl(vetted), {
            method,
            headers,
            body: body === null ? null : observedBody(body, headers, onConnected),
            redirect: 'manual',
            proxy: false,
            decompress: false,
            signal: life.signal,
            ...(https && { tls: tlsOptions(vetted, request) }),
          })
        : await life.orEnd(fetchPinned(vetted, pin, { ...request, method, headers, body, signal: life.signal }, onConnected))
    clearTimeout(connectTimer)
    timer.answered()

    const received = await life.orEnd(readBody(response.body, maxBodyBytes, maxReturnedBytes))
    const { seen } = received
    if (seen > maxBodyBytes) {
      life.end('aborted', 'The rest of the body is not needed.')
      if (overflow === 'fail') throw fail('too_large', `The server’s response is larger than ${maxBodyBytes} bytes.`)
    }
    const { address, family } = vetted
    return {
      status: response.status,
      reason: response.statusText,
      headers: response.headers,
      body: received.body,
      bodyTruncated: seen > received.body.byteLength,
      timings: timer.timings(),
      address,
      addressFamily: family,
    }
  })
}

/**
 * Reads the SHA-256 fingerprint of the certificate that a server presents, so that a person can compare and pin it. Sends no request.
 * @param url https
 * @throws FetchFailed
 */
export async function presentedFingerprint(url: string, guard: Guard): Promise<string> {
  return await guarded({ url }, guard, true, async ({ vetted, life, fail }) => {
    if (vetted.url.protocol !== 'https:') throw fail('tls', 'The URL must use https.')
    const socket = await life.orEnd(openTls(vetted, life))
    const certificate = socket.getPeerCertificate()
    socket.destroy()
    return fingerprintOf(certificate)
  })
}

type Life = ReturnType<typeof lifetime>
type Fail = (errorClass: FetchErrorClass, message: string, code?: string | null) => FetchFailed

/**
 * Runs a request to a checked address within its time limits.
 * @param seesConnect whether `run` notices when it is connected
 * @throws FetchFailed
 */
async function guarded<T>(
  request: Pick<GuardedRequest, 'url' | 'signal'>,
  { egress, policy, limits: { totalMs = 15_000 } = {} }: Guard,
  seesConnect: boolean,
  run: (around: { vetted: VettedHost & { url: URL }; life: Life; timer: ReturnType<typeof stopwatch>; fail: Fail }) => Promise<T>,
): Promise<T> {
  const timer = stopwatch()
  const life = lifetime(request.signal)
  const fail: Fail = (errorClass, message, code = null) => new FetchFailed(errorClass, message, timer.timings(), code)
  life.after(totalMs, 'The request timed out.')
  let https = false
  try {
    const vetted = await life.orEnd(egress.vetUrl(request.url, policy))
    timer.resolved()
    https = vetted.url.protocol === 'https:'
    return await run({ vetted, life, timer, fail })
  } catch (error) {
    if (error instanceof FetchFailed) throw error
    if (life.reason) throw fail(life.reason.errorClass, life.reason.message)
    if (error instanceof EgressRefused) throw fail(error.errorClass === 'dns' ? 'dns' : 'blocked_address', error.message)
    if (error instanceof PinMismatch) throw fail('tls', error.message, error.code)
    const stage = timer.stage()
    const { errorClass, message, code } = failureOf(error, stage === 'connecting' && !seesConnect ? 'waiting' : stage, https)
    throw fail(errorClass, message, code)
  } finally {
    life.release()
  }
}

/**
 * Returns the body as a stream, because fetch reads it as soon as it is connected: the only way to observe that moment. The length is
 * set, so the request is not chunked.
 */
function observedBody(body: NonNullable<GuardedRequest['body']>, headers: Headers, onConnected: () => void): ReadableStream {
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

/** Reads until the end or past the limit. If `seen` is greater than `maxBodyBytes`, there was more. */
async function readBody(
  stream: AsyncIterable<Uint8Array> | null,
  maxBodyBytes: number,
  maxReturnedBytes: number,
): Promise<{ body: Uint8Array<ArrayBuffer>; seen: number }> {
  const chunks: Uint8Array[] = []
  let seen = 0
  const parts = stream?.[Symbol.asyncIterator]()
  while (parts && seen <= maxBodyBytes) {
    const { done, value } = await parts.next()
    if (done) break
    if (seen < maxReturnedBytes) chunks.push(value.subarray(0, maxReturnedBytes - seen))
    seen += value.byteLength
  }
  return { body: new Uint8Array(Buffer.concat(chunks)), seen }
}
