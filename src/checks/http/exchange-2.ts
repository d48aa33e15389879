import { connect as openSession, constants } from 'node:http2'
import type { Duplex } from 'node:stream'
import type { Attempt } from '../attempt'
import { CheckFailed } from '../connect-failure'
import { answerFailure, headersOf, type Answer, type SentRequest } from './exchange'

/**
 * Sends a request of HTTP/2 (RFC 9113) on a connection that agreed to it, and waits for the head of its answer. Writes `first_byte`.
 * @throws CheckFailed
 */
export async function exchange2(attempt: Attempt, socket: Duplex, { method, url, headers, body }: SentRequest): Promise<Answer> {
  const sent = attempt.around.now()
  const session = attempt.hold(openSession(url.origin, { createConnection: () => socket }))
  const broken = new Promise<never>((_, reject) => {
    session.on('error', reject)
    session.once('close', () => reject(new CheckFailed('closed', 'the server closed the connection without an answer')))
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
  const heading = new Promise<Answer>((resolve, reject) => {
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
    // One that is reset without an error ends, and no more.
    stream.once('close', () => reject(new CheckFailed('closed', 'the server broke off the stream without an answer')))
  })
  if (body) stream.end(body)
  try {
    return await attempt.within(Promise.race([heading, broken]), 'no answer')
  } catch (error) {
    throw answerFailure(error)
  } finally {
    attempt.spent('first_byte', sent)
  }
}

const lowered = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const flattened = (head: object): string[] =>
  Object.entries(head).flatMap(([name, value]) => [value].flat().flatMap(one => [name, String(one)]))
