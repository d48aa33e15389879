import { connect as openSession, constants } from 'node:http2'
import type { Duplex } from 'node:stream'
import type { Attempt } from '../attempt'
import { CheckFailed } from '../connect-failure'
import { responseFailure, headersOf, type HttpResponse, type RequestToSend } from './http1'

/**
 * Sends an HTTP/2 request (RFC 9113) on a connection that negotiated it, and waits for the head of the response. Records `first_byte`.
 * @throws CheckFailed
 */
export async function sendHttp2(
  attempt: Attempt,
  socket: Duplex,
  { method, url, headers, body }: RequestToSend,
): Promise<HttpResponse> {
  const sent = attempt.context.now()
  const session = attempt.track(openSession(url.origin, { createConnection: () => socket }))
  const broken = new Promise<never>((_, reject) => {
    session.on('error', reject)
    session.once('close', () => reject(new CheckFailed('closed', 'the server closed the connection without a response')))
  })
  const { host, ...rest } = lowered(headers)
  const stream = session.request(
    {
      ...rest,
      [constants.HTTP2_HEADER_METHOD]: method,
      [constants.HTTP2_HEADER_SCHEME]: url.protocol.slice(0, -1),
      [constants.HTTP2_HEADER_AUTHORITY]: host ?? url.host,
      [constants.HTTP2_HEADER_PATH]: url.pathname + url.search,
      ...(body && { 'content-length': String(body.length) }),
    },
    { endStream: body === null },
  )
  const head = new Promise<HttpResponse>((resolve, reject) => {
    stream.once('response', (head, _flags, raw?: string[]) =>
      resolve({
        method,
        status: Number(head[':status'] ?? 0),
        ...headersOf(raw ?? flattened(head)),
        body: stream,
        isBroken: () => stream.rstCode !== constants.NGHTTP2_NO_ERROR,
      }),
    )
    stream.on('error', reject)
    // A stream that is reset without an error code only closes.
    stream.once('close', () => reject(new CheckFailed('closed', 'the server reset the stream without a response')))
  })
  if (body) stream.end(body)
  try {
    return await attempt.within(Promise.race([head, broken]), 'the response')
  } catch (error) {
    throw responseFailure(error)
  } finally {
    attempt.addToPhase('first_byte', sent)
  }
}

const lowered = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const flattened = (head: object): string[] =>
  Object.entries(head).flatMap(([name, value]) => [value].flat().flatMap(one => [name, String(one)]))
