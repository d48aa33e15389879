import { catchFormatError } from '../format-error'
import type { Message } from '../message'
import { decodeMessage } from '../message-decode'
import { encodeMessage } from '../message-encode'
import { sameName } from '../name'
import { signTsig, tsigLength, verifyTsig, type TsigKey } from '../tsig'
import { lifetime } from '../../core/net/request-lifetime'
import { QueryFailed } from './failure'
import type { QueriedServer } from './server'
import { requireSigned, requireVerified } from './signed-answer'
import { connectTcp } from './tcp'
import { queryUdp } from './udp'

/**
 * `by`: defaults to `udp`, with a fallback to TCP if the response is truncated or unverified; `tcp` for messages that must not be sent
 * twice. `timeoutMs` limits the whole query, default 10,000.
 */
export interface QueryOptions {
  by?: 'udp' | 'tcp'
  timeoutMs?: number
  signal?: AbortSignal
}

/**
 * Sends a message to a server and returns the response, whatever its RCODE. Verifies that id, opcode and question match, and the
 * signature if there is a key.
 * @param unsent its id is ignored
 * @throws QueryFailed; DnsFormatError for an invalid message, or a key that may not be used
 */
export async function queryServer(
  server: QueriedServer,
  unsent: Message,
  { by = 'udp', timeoutMs = 10_000, signal }: QueryOptions = {},
): Promise<Message> {
  const life = lifetime(signal)
  life.after(timeoutMs, 'The server did not respond in time.')
  try {
    if (by === 'udp') {
      const question = outgoing(server, unsent)
      // UDP responses can be spoofed. If verification fails, retry over TCP.
      const answer = await queryUdp(server.at, question.octets, life, octets => acceptUdp(server, question, octets))
      if (answer && answer !== 'truncated') return answer
    }
    const question = outgoing(server, unsent)
    const connection = await connectTcp(server.at, life)
    try {
      connection.send(question.octets)
      const octets = await connection.next()
      if (!octets) throw new QueryFailed('closed', 'The server closed the connection without a response.', true)
      const answer = decodeAnswer(octets)
      if (!isAnswer(answer, question.message, true)) throw mismatchedResponse()
      verify(server, question, octets, answer)
      return answer
    } finally {
      connection.close()
    }
  } finally {
    life.release()
  }
}

/** An encoded message, with the MAC that the signature of the response covers. */
export interface Outgoing {
  message: Message
  octets: Uint8Array
  mac: Uint8Array
}

/** Sets an unpredictable id (RFC 5452 section 4.3), and signs the message. @throws DnsFormatError */
export function outgoing({ key, now }: QueriedServer, unsent: Message): Outgoing {
  const message = { ...unsent, id: crypto.getRandomValues(new Uint16Array(1))[0]! }
  const octets = encodeMessage(message, { reserve: key ? tsigLength(key) : 0 })
  if (!key) return { message, octets, mac: new Uint8Array() }
  const signed = signTsig(octets, key, { time: secondsOf(now()) })
  return { message, octets: signed.message, mac: signed.mac }
}

/** TSIG times are in seconds. */
export const secondsOf = (ms: number): number => Math.floor(ms / 1000)

/** @throws QueryFailed `invalid_response` */
export const decodeAnswer = (octets: Uint8Array): Message =>
  catchFormatError(
    () => decodeMessage(octets),
    () => {
      throw new QueryFailed('invalid_response', 'The response is not a valid DNS message.', true)
    },
  )

/**
 * Returns whether a message is the response to another.
 * @param bare whether the question may be missing, as in some error responses
 */
export function isAnswer(answer: Message, to: Message, bare: boolean): boolean {
  if (!answer.flags.qr || answer.id !== to.id || answer.opcode !== to.opcode) return false
  if (answer.question.length === 0) return bare
  const [sentQuestion] = to.question
  const [receivedQuestion, ...others] = answer.question
  return (
    others.length === 0 &&
    receivedQuestion!.type === sentQuestion!.type &&
    receivedQuestion!.class === sentQuestion!.class &&
    sameName(receivedQuestion!.name, sentQuestion!.name)
  )
}

export const mismatchedResponse = () => new QueryFailed('invalid_response', 'The response does not match the query.', true)

function acceptUdp(server: QueriedServer, question: Outgoing, octets: Uint8Array): Message | 'truncated' | null {
  try {
    const answer = decodeAnswer(octets)
    if (!isAnswer(answer, question.message, false)) return null
    if (answer.flags.tc) return 'truncated'
    verify(server, question, octets, answer)
    return answer
  } catch (error) {
    if (!(error instanceof QueryFailed)) throw error
    return error.failure === 'invalid_response' ? null : 'truncated'
  }
}

/** @throws QueryFailed */
function verify(
  { key, now }: { key: TsigKey | null; now(): number },
  question: Outgoing,
  octets: Uint8Array,
  answer: Message,
): void {
  if (!key) return
  requireSigned(answer)
  requireVerified(verifyTsig(octets, answer.tsig!, [key], { now: secondsOf(now()), prior: question.mac }))
}
