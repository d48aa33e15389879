import type { Socket } from 'node:net'
import { decodeAnswer, isAnswer, outgoing, type Outgoing } from '../../core/dns-client/ask'
import { AskFailed } from '../../core/dns-client/failure'
import { askUdp } from '../../core/dns-client/udp'
import type { Message } from '../../core/dns/message'
import { encodeMessage } from '../../core/dns/message-encode'
import { framed } from '../../core/dns/tcp-frame'
import type { VettedHost } from '../../core/net/egress'
import { lifetime } from '../../core/net/request-lifetime'
import type { Attempt } from '../attempt'
import { CheckFailed, connectFailure } from '../connect-failure'
import type { HostPort } from '../host-port'
import { exchange, type SentRequest } from '../http/exchange'
import { exchange2 } from '../http/exchange-2'
import { readUpTo } from '../http/body'
import { Talk } from '../talk'
import { connectTcp, connectTls } from '../tls-connect'
import { nameToShow, tlsWish, type TlsMembers } from '../tls-options'
import type { DnsServer } from './server'

/** How to ask. */
export type DnsWish = TlsMembers & { transport?: 'udp' | 'tcp' | 'dot' | 'doh'; servername?: string; ip_family?: 4 | 6 }

/**
 * Asks a server, or the resolvers of the hub one after the other until one answers. Writes the phases.
 * @throws CheckFailed
 */
export async function askOver(one: Attempt, query: Message, server: DnsServer | null, wish: DnsWish): Promise<Message> {
  const servers = server ? [server] : one.around.resolvers().map(({ address, port }) => ({ host: address, port, url: null }))
  if (servers.length === 0) throw new CheckFailed('unsupported', 'this hub has no resolver: one has to be named')
  let failure: unknown
  for (const [at, asked] of servers.entries()) {
    try {
      return await over[wish.transport ?? 'udp'](one, query, asked, wish, at === servers.length - 1)
    } catch (error) {
      failure = error instanceof AskFailed ? new CheckFailed('protocol', wordsOf(error)) : error
      if (one.around.signal.aborted) break
    }
  }
  throw failure
}

// A resolver that has not answered by then is passed over when there is another.
const patienceMs = 2000
const mostPatienceMs = 120_000
const mostMessage = 65_535
const mediaType = 'application/dns-message'

type Ask = (one: Attempt, query: Message, server: DnsServer, wish: DnsWish, last: boolean) => Promise<Message>

const over: Record<NonNullable<DnsWish['transport']>, Ask> = {
  async udp(one, query, server, wish, last) {
    const { around, facts } = one
    const { address, port } = await vetted(one, server, wish.ip_family)
    const question = asked(one, query)
    const life = lifetime(around.signal)
    const sent = around.now()
    let broken: unknown = null
    const answer = await askUdp({ address, port }, question.octets, life, octets => accepted(octets, question), {
      patienceMs: last ? mostPatienceMs : patienceMs,
      broken: error => (broken = error),
    }).finally(() => life.release())
    if (answer === null) {
      if (around.signal.aborted || broken === null) throw new CheckFailed('timeout', 'no answer within the time limit')
      throw connectFailure(broken, 'connecting')
    }
    one.spent('first_byte', sent)
    if (!answer.flags.tc) return answer
    facts.request = `${facts.request}, and by tcp since the answer does not fit`
    return await over.tcp(one, query, server, wish, last)
  },
  tcp: async (one, query, { host, port }, { ip_family: family }) =>
    await framedOn(one, await connectTcp(one, host, port, family), query),
  dot: async (one, query, server, wish) => await framedOn(one, await secured(one, server, wish, ['dot']), query),
  async doh(one, query, server, wish) {
    const socket = await secured(one, server, wish, ['h2', 'http/1.1'])
    // The same question has the same octets, so that caches know it again (RFC 8484 section 4.1).
    const octets = encodeMessage({ ...query, id: 0 })
    const request: SentRequest = {
      method: 'POST',
      url: server.url!,
      headers: { Host: server.url!.host, 'Content-Type': mediaType, Accept: mediaType },
      body: Buffer.from(octets),
    }
    const answer = await (socket.alpnProtocol === 'h2' ? exchange2 : exchange)(one, socket, request)
    if (answer.status !== 200) throw new CheckFailed('status', `HTTP ${answer.status} where 200 is expected`)
    if (answer.headers['content-type']?.split(';')[0]!.trim().toLowerCase() !== mediaType)
      throw new CheckFailed('protocol', `the answer is not of the type ${mediaType}`)
    const body = await one.within(readUpTo(answer.body, mostMessage), 'no end of the answer')
    return proven(body.octets, { message: { ...query, id: 0 } })
  },
}

/** A question and its answer with their lengths before them (RFC 1035 section 4.2.2, RFC 7858 section 3.3). */
async function framedOn(one: Attempt, socket: Socket, query: Message): Promise<Message> {
  const question = asked(one, query)
  const talk = new Talk(one, socket, mostMessage + 2)
  talk.send(framed(question.octets))
  const length = (await talk.octets(2, 'no answer')).readUInt16BE()
  return proven(await talk.octets(length, 'no end of the answer'), question)
}

const secured = (one: Attempt, { host, port }: HostPort, wish: DnsWish, alpn: readonly string[]) =>
  connectTls(one, host, port, { ...tlsWish(wish, nameToShow(wish.servername, host)), alpn }, wish.ip_family)

async function vetted(one: Attempt, { host, port }: HostPort, family: 4 | 6 | undefined): Promise<VettedHost> {
  const since = one.around.now()
  try {
    const found = await one.within(one.around.vet(host, port, family), 'the name was not resolved')
    one.facts.address = found.address
    one.spent('dns', since)
    return found
  } catch (error) {
    throw connectFailure(error, 'connecting')
  }
}

const asked = (one: Attempt, query: Message): Outgoing =>
  outgoing({ at: { address: '', port: 0 }, key: null, now: () => one.around.wallNow() }, query)

/** Over UDP anybody may answer: what is no answer to this question is passed over. */
function accepted(octets: Uint8Array, question: Outgoing): Message | null {
  try {
    const answer = decodeAnswer(octets)
    return isAnswer(answer, question.message, true) ? answer : null
  } catch (error) {
    if (error instanceof AskFailed) return null
    throw error
  }
}

/** @throws AskFailed, CheckFailed */
function proven(octets: Uint8Array, { message }: Pick<Outgoing, 'message'>): Message {
  const answer = decodeAnswer(octets)
  if (!isAnswer(answer, message, true)) throw new CheckFailed('protocol', 'what the server answered belongs to another question')
  return answer
}

/** Its sentence, as part of one. */
const wordsOf = ({ message }: AskFailed): string => message[0]!.toLowerCase() + message.slice(1).replace(/\.$/, '')
