import { request as sendRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import type { Duplex, Readable } from 'node:stream'
import type { Attempt } from '../attempt'
import { CheckFailed, codeOf, connectFailure } from '../connect-failure'

/** A request as sent. Header names keep their spelling. */
export interface RequestToSend {
  method: string
  url: URL
  headers: Record<string, string>
  body: Buffer | null
}

/** The head of a response and its body stream. */
export interface HttpResponse {
  /** Method of the request. */
  method: string
  status: number
  /** By lowercase name; repeated headers are joined with `, `. */
  headers: Record<string, string>
  setCookies: string[]
  body: Readable
  /** Whether a body that ended is incomplete, if its stream does not report that as an error. */
  isBroken(): boolean
}

/**
 * Sends an HTTP/1.1 request on a connection and waits for the head of the response. Records `first_byte`.
 * @param keepAlive whether the connection stays open for another request
 * @param path request target; the whole URL for HTTP proxies
 * @throws CheckFailed
 */
export async function sendHttp1(
  attempt: Attempt,
  socket: Duplex,
  { method, url, headers, body }: RequestToSend,
  { keepAlive = false, path = url.pathname + url.search }: { keepAlive?: boolean; path?: string } = {},
): Promise<HttpResponse> {
  const sent = attempt.context.now()
  const request = sendRequest({
    createConnection: () => socket,
    method,
    path,
    setHost: false,
    maxHeaderSize: maxHeadBytes,
    // Accept, for example, lines that end in a bare line feed (RFC 9112 section 2.2), as browsers do.
    insecureHTTPParser: true,
    headers: {
      ...headers,
      Connection: keepAlive ? 'keepAlive-alive' : 'close',
      ...(body && { 'Content-Length': String(body.length) }),
    },
  })
  let firstByteAt: number | null = null
  request.once('socket', carrier => carrier.once('data', () => (firstByteAt ??= attempt.context.now())))
  const head = responseHead(request)
  request.end(body ?? undefined)
  let response: IncomingMessage
  try {
    response = await attempt.within(head, 'the response')
  } catch (error) {
    throw responseFailure(error)
  }
  attempt.facts.phases.first_byte =
    (attempt.facts.phases.first_byte ?? 0) + Math.max(0, (firstByteAt ?? attempt.context.now()) - sent)
  return { method, status: response.statusCode ?? 0, ...headersOf(response.rawHeaders), body: response, isBroken: () => false }
}

/** Headers by lowercase name, from a flat list of names and values. */
export function headersOf(raw: readonly string[]): Pick<HttpResponse, 'headers' | 'setCookies'> {
  const headers: Record<string, string> = Object.create(null)
  const setCookies: string[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase()
    const value = raw[at + 1]!
    if (name.startsWith(':')) continue
    if (name === 'set-cookie') setCookies.push(value)
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  return { headers: { ...headers }, setCookies }
}

/**
 * Maps an error of the parser or the connection to a check failure.
 * @param headReceived whether the head of the response had arrived
 */
export function responseFailure(error: unknown, headReceived = false): CheckFailed {
  if (error instanceof CheckFailed) return error
  const code = codeOf(error)
  if (code === 'HPE_HEADER_OVERFLOW') return new CheckFailed('protocol', 'the response headers are too large')
  if (code.startsWith('HPE_')) return new CheckFailed('protocol', 'the response is not valid HTTP')
  if (code === 'ERR_HTTP2_STREAM_ERROR' || code === 'ERR_HTTP2_GOAWAY_SESSION')
    return new CheckFailed(
      'closed',
      `the server reset the stream ${headReceived ? 'before the response was complete' : 'without a response'}`,
    )
  if (code.startsWith('ERR_HTTP2_')) return new CheckFailed('protocol', 'the response is not valid HTTP/2')
  if (!headReceived && (code === 'ECONNRESET' || code === 'EPIPE'))
    return new CheckFailed('closed', 'the server closed the connection without a response')
  return connectFailure(error, 'established')
}

/** Maximum size of a head, as in browsers: a content security policy alone can take tens of kilobytes. */
const maxHeadBytes = 262_144
/** Maximum number of interim responses (1xx, RFC 9110 section 15.2). */
const maxInterim = 20

function responseHead(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let interim = 0
    request.on('information', () => {
      if (++interim > maxInterim) request.destroy(new CheckFailed('protocol', 'the server sent too many interim responses'))
    })
    request.once('response', response => {
      // A later failure, even in the same packet, is reported to the reader of the body.
      response.on('error', () => {})
      request.on('error', error => response.destroy(error))
      resolve(response)
    })
    // No upgrade was requested, and a response that switches protocols has no body.
    request.once('upgrade', () => reject(new CheckFailed('protocol', 'the server switched to a protocol that was not requested')))
    request.on('error', reject)
  })
}
