import type { Socket } from 'node:net'
import { decodeAnswer, isAnswer, outgoing, type Outgoing } from '../../dns/client/query-server'
import { QueryFailed } from '../../dns/client/failure'
import { queryUdp } from '../../dns/client/udp'
import type { Message } from '../../dns/message'
import { encodeMessage } from '../../dns/message-encode'
import { framed } from '../../dns/tcp-frame'
import { lifetime } from '../../core/net/request-lifetime'
import type { Attempt } from '../attempt'
import { CheckFailed, connectFailure } from '../connect-failure'
import type { HostPort } from '../host-port'
import { sendHttp1, type RequestToSend } from '../http/http1'
import { sendHttp2 } from '../http/http2'
import { readUpTo } from '../http/body'
import { BufferedConnection } from '../buffered-connection'
import { connectTcp, connectTls, vettedFor } from '../connect'
import { serverNameFor, tlsSettings, type TlsOptions } from '../tls-options'
import type { DnsServer } from './server'

/** Options of a DNS query. */
export type DnsQueryOptions = TlsOptions & { transport?: 'udp' | 'tcp' | 'dot' | 'doh'; server_name?: string; ip_family?: 4 | 6 }

/**
 * Queries a server, or the hub's resolvers in turn until one answers. Records the phases.
 * @throws CheckFailed
 */
export async function queryServers(
  attempt: Attempt,
  query: Message,
  server: DnsServer | null,
  options: DnsQueryOptions,
): Promise<Message> {
  const servers = server ? [server] : attempt.context.resolvers().map(({ address, port }) => ({ host: address, port, url: null }))
  if (servers.length === 0) throw new CheckFailed('unsupported', 'this hub has no system resolver; set a resolver')
  let failure: unknown
  for (const [at, current] of servers.entries()) {
    try {
      return await transports[options.transport ?? 'udp'](attempt, query, current, options, at === servers.length - 1)
    } catch (error) {
      failure = error instanceof QueryFailed ? new CheckFailed('protocol', wordsOf(error)) : error
      if (attempt.context.signal.aborted) break
    }
  }
  throw failure
}

// After this time the next resolver is tried, if there is one.
const resolverTimeoutMs = 2000
const lastResolverTimeoutMs = 120_000
const maxMessageBytes = 65_535
const mediaType = 'application/dns-message'

type Ask = (attempt: Attempt, query: Message, server: DnsServer, options: DnsQueryOptions, last: boolean) => Promise<Message>

const transports: Record<NonNullable<DnsQueryOptions['transport']>, Ask> = {
  async udp(attempt, query, server, options, last) {
    const { context, facts } = attempt
    const { address, port } = await vettedFor(attempt, server.host, server.port, options.ip_family, 'dns_query')
    const question = outgoingQuery(attempt, query)
    const life = lifetime(context.signal)
    const sent = context.now()
    let broken: unknown = null
    const answer = await queryUdp({ address, port }, question.octets, life, octets => acceptedResponse(octets, question), {
      udpTimeoutMs: last ? lastResolverTimeoutMs : resolverTimeoutMs,
      broken: error => (broken = error),
    }).finally(() => life.release())
    if (answer === null) {
      if (context.signal.aborted || broken === null) throw new CheckFailed('timeout', 'timed out waiting for the response')
      throw connectFailure(broken, 'connecting')
    }
    attempt.addToPhase('first_byte', sent)
    if (!answer.flags.tc) return answer
    facts.request = `${facts.request}, then over tcp (truncated)`
    return await transports.tcp(attempt, query, server, options, last)
  },
  tcp: async (attempt, query, { host, port }, { ip_family: family }) =>
    await queryStream(attempt, await connectTcp(attempt, host, port, family, 'dns_query'), query),
  dot: async (attempt, query, server, options) =>
    await queryStream(attempt, await connectSecure(attempt, server, options, ['dot']), query),
  async doh(attempt, query, server, options) {
    const socket = await connectSecure(attempt, server, options, ['h2', 'http/1.1'])
    // Equal queries have equal bytes, so that HTTP caches can reuse the response (RFC 8484 section 4.1).
    const octets = encodeMessage({ ...query, id: 0 })
    const request: RequestToSend = {
      method: 'POST',
      url: server.url!,
      headers: { Host: server.url!.host, 'Content-Type': mediaType, Accept: mediaType },
      body: Buffer.from(octets),
    }
    const response = await (socket.alpnProtocol === 'h2' ? sendHttp2 : sendHttp1)(attempt, socket, request)
    if (response.status !== 200) throw new CheckFailed('status', `HTTP ${response.status}, expected 200`)
    if (response.headers['content-type']?.split(';')[0]!.trim().toLowerCase() !== mediaType)
      throw new CheckFailed('protocol', `the response does not have the content type ${mediaType}`)
    const body = await attempt.within(readUpTo(response.body, maxMessageBytes), 'the end of the response')
    return parseResponse(body.octets, { message: { ...query, id: 0 } })
  },
}

/** Sends a query and reads the response with length prefixes (RFC 1035 section 4.2.2, RFC 7858 section 3.3). */
async function queryStream(attempt: Attempt, socket: Socket, query: Message): Promise<Message> {
  const question = outgoingQuery(attempt, query)
  const connection = new BufferedConnection(attempt, socket, maxMessageBytes + 2)
  connection.send(framed(question.octets))
  const length = (await connection.readBytes(2, 'the response')).readUInt16BE()
  return parseResponse(await connection.readBytes(length, 'the end of the response'), question)
}

const connectSecure = (attempt: Attempt, { host, port }: HostPort, options: DnsQueryOptions, alpn: readonly string[]) =>
  connectTls(attempt, host, port, { ...tlsSettings(options, serverNameFor(options.server_name, host)), alpn }, options.ip_family)

const outgoingQuery = (attempt: Attempt, query: Message): Outgoing =>
  outgoing({ at: { address: '', port: 0 }, key: null, now: () => attempt.context.wallNow() }, query)

/** Over UDP anyone can send a packet: ignore what does not answer this query. */
function acceptedResponse(octets: Uint8Array, question: Outgoing): Message | null {
  try {
    const answer = decodeAnswer(octets)
    return isAnswer(answer, question.message, true) ? answer : null
  } catch (error) {
    if (error instanceof QueryFailed) return null
    throw error
  }
}

/** @throws QueryFailed, CheckFailed */
function parseResponse(octets: Uint8Array, { message }: Pick<Outgoing, 'message'>): Message {
  const answer = decodeAnswer(octets)
  if (!isAnswer(answer, message, true)) throw new CheckFailed('protocol', 'the response does not match the query')
  return answer
}

/** Turns a sentence into a message fragment. */
const wordsOf = ({ message }: QueryFailed): string => message[0]!.toLowerCase() + message.slice(1).replace(/\.$/, '')
