import { request as sendRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import type { Duplex, Readable } from 'node:stream'
import type { Attempt } from '../attempt'
import { CheckFailed, codeOf, connectFailure } from '../connect-failure'

/** One request as it is sent. Header names are spelled as they were given. */
export interface SentRequest {
  method: string
  url: URL
  headers: Record<string, string>
  body: Buffer | null
}

/** The head of an answer, and its body to read. */
export interface Answer {
  /** Of the request. */
  method: string
  status: number
  /** By lower-case name; several of one name are joined by `, `. */
  headers: Record<string, string>
  setCookies: string[]
  body: Readable
  /** Whether a body that ended did so before its end, where its stream says nothing of that. */
  isBroken(): boolean
}

/**
 * Sends a request of HTTP/1.1 on a connection and waits for the head of its answer. Writes `first_byte`.
 * @param keep whether another request is to follow on the connection
 * @param path as it stands in the request line, for proxies the whole URL
 * @throws CheckFailed
 */
export async function exchange(
  attempt: Attempt,
  socket: Duplex,
  { method, url, headers, body }: SentRequest,
  { keep = false, path = url.pathname + url.search }: { keep?: boolean; path?: string } = {},
): Promise<Answer> {
  const sent = attempt.around.now()
  const sending = sendRequest({
    createConnection: () => socket,
    method,
    path,
    setHost: false,
    maxHeaderSize: headMost,
    // Lines that end in a line feed alone (RFC 9112 section 2.2), say, are taken by browsers too.
    insecureHTTPParser: true,
    headers: { ...headers, Connection: keep ? 'keep-alive' : 'close', ...(body && { 'Content-Length': String(body.length) }) },
  })
  let heardAt: number | null = null
  sending.once('socket', carrier => carrier.once('data', () => (heardAt ??= attempt.around.now())))
  const heading = headOf(sending)
  sending.end(body ?? undefined)
  let response: IncomingMessage
  try {
    response = await attempt.within(heading, 'no answer')
  } catch (error) {
    throw answerFailure(error)
  }
  attempt.facts.phases.first_byte = (attempt.facts.phases.first_byte ?? 0) + Math.max(0, (heardAt ?? attempt.around.now()) - sent)
  return { method, status: response.statusCode ?? 0, ...headersOf(response.rawHeaders), body: response, isBroken: () => false }
}

/** Headers by lower-case name, of the list of names and values in turn. */
export function headersOf(raw: readonly string[]): Pick<Answer, 'headers' | 'setCookies'> {
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
 * What an error of the parser or of the connection says of the answer.
 * @param begun its head had come
 */
export function answerFailure(error: unknown, begun = false): CheckFailed {
  if (error instanceof CheckFailed) return error
  const code = codeOf(error)
  if (code === 'HPE_HEADER_OVERFLOW') return new CheckFailed('protocol', 'the headers of the answer are larger than is read')
  if (code.startsWith('HPE_')) return new CheckFailed('protocol', 'the answer is not valid HTTP')
  if (code === 'ERR_HTTP2_STREAM_ERROR' || code === 'ERR_HTTP2_GOAWAY_SESSION')
    return new CheckFailed(
      'closed',
      `the server broke off the stream ${begun ? 'before its answer was complete' : 'without an answer'}`,
    )
  if (code.startsWith('ERR_HTTP2_')) return new CheckFailed('protocol', 'the answer is not valid HTTP/2')
  if (!begun && (code === 'ECONNRESET' || code === 'EPIPE'))
    return new CheckFailed('closed', 'the server closed the connection without an answer')
  return connectFailure(error, 'talking')
}

/** Octets of a head that are read, as in browsers: policies for content alone can be tens of thousands. */
const headMost = 262_144

function headOf(sending: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sending.once('response', response => {
      // What breaks later, and be it in the same octets, is told to whoever reads the body.
      response.on('error', () => {})
      sending.on('error', error => response.destroy(error))
      resolve(response)
    })
    // Nobody asked for another protocol: an answer that switches to one has no body that could be read.
    sending.once('upgrade', () => reject(new CheckFailed('protocol', 'the server switched to a protocol that was not asked for')))
    sending.on('error', reject)
  })
}
