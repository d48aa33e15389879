import { DnsFormatError } from '../dns/format-error'
import type { Message } from '../dns/message'
import { decodeMessage } from '../dns/message-decode'
import { encodeMessage } from '../dns/message-encode'
import { sameName } from '../dns/name'
import { signTsig, tsigLength, verifyTsig, type TsigKey } from '../dns/tsig'
import { lifetime } from '../net/request-lifetime'
import { AskFailed } from './failure'
import type { NameServerAsked } from './server'
import { refuseUnsigned, refuseUnverified } from './signed-answer'
import { connectTcp } from './tcp'
import { askUdp } from './udp'

/**
 * `by`: `udp` when absent, and TCP where that gives no whole and proven answer; `tcp` for what must not be sent twice.
 * `timeoutMs` (default 10,000) bounds everything. `signal` gives up early.
 */
export interface Asking {
  by?: 'udp' | 'tcp'
  timeoutMs?: number
  signal?: AbortSignal
}

/**
 * Sends one message to a server and gives its answer, whatever code it has. It is the answer to this message: id, opcode and
 * question are held against it, and its signature where there is a key.
 * @param unsent its id does not matter
 * @throws AskFailed; DnsFormatError for a message that is none, or whose key may not be used
 */
export async function ask(
  server: NameServerAsked,
  unsent: Message,
  { by = 'udp', timeoutMs = 10_000, signal }: Asking = {},
): Promise<Message> {
  const life = lifetime(signal)
  life.after(timeoutMs, 'The server did not answer in time.')
  try {
    if (by === 'udp') {
      const question = outgoing(server, unsent)
      // Over UDP anybody may answer. What does not prove itself is asked for again by TCP.
      const answer = await askUdp(server.at, question.octets, life, octets => acceptUdp(server, question, octets))
      if (answer && answer !== 'truncated') return answer
    }
    const question = outgoing(server, unsent)
    const connection = await connectTcp(server.at, life)
    try {
      connection.send(question.octets)
      const octets = await connection.next()
      if (!octets) throw new AskFailed('closed', 'The server closed the connection without an answer.', true)
      const answer = decodeAnswer(octets)
      if (!isAnswer(answer, question.message, true)) throw strange()
      verify(server, question, octets, answer)
      return answer
    } finally {
      connection.close()
    }
  } finally {
    life.release()
  }
}

/** A message as it is sent, with the MAC that the answer's signature covers. */
export interface Outgoing {
  message: Message
  octets: Uint8Array
  mac: Uint8Array
}

/** Gives a message an id that nobody guesses (RFC 5452 4.3), and signs it. @throws DnsFormatError */
export function outgoing({ key, now }: NameServerAsked, unsent: Message): Outgoing {
  const message = { ...unsent, id: crypto.getRandomValues(new Uint16Array(1))[0]! }
  const octets = encodeMessage(message, { reserve: key ? tsigLength(key) : 0 })
  if (!key) return { message, octets, mac: new Uint8Array() }
  const signed = signTsig(octets, key, { time: secondsOf(now()) })
  return { message, octets: signed.message, mac: signed.mac }
}

/** Signatures hold seconds. */
export const secondsOf = (ms: number): number => Math.floor(ms / 1000)

/** @throws AskFailed `invalid_answer` */
export function decodeAnswer(octets: Uint8Array): Message {
  try {
    return decodeMessage(octets)
  } catch (error) {
    if (error instanceof DnsFormatError)
      throw new AskFailed('invalid_answer', 'The answer of the server is no DNS message.', true)
    throw error
  }
}

/**
 * Whether a message answers another.
 * @param bare whether it may come without question, as answers that are errors do
 */
export function isAnswer(answer: Message, to: Message, bare: boolean): boolean {
  if (!answer.flags.qr || answer.id !== to.id || answer.opcode !== to.opcode) return false
  if (answer.question.length === 0) return bare
  const [asked] = to.question
  const [told, ...others] = answer.question
  return others.length === 0 && told!.type === asked!.type && told!.class === asked!.class && sameName(told!.name, asked!.name)
}

export const strange = () => new AskFailed('invalid_answer', 'What the server answered belongs to another question.', true)

function acceptUdp(server: NameServerAsked, question: Outgoing, octets: Uint8Array): Message | 'truncated' | null {
  try {
    const answer = decodeAnswer(octets)
    if (!isAnswer(answer, question.message, false)) return null
    if (answer.flags.tc) return 'truncated'
    verify(server, question, octets, answer)
    return answer
  } catch (error) {
    if (!(error instanceof AskFailed)) throw error
    return error.failure === 'invalid_answer' ? null : 'truncated'
  }
}

/** @throws AskFailed */
function verify(
  { key, now }: { key: TsigKey | null; now(): number },
  question: Outgoing,
  octets: Uint8Array,
  answer: Message,
): void {
  if (!key) return
  refuseUnsigned(answer)
  refuseUnverified(verifyTsig(octets, answer.tsig!, [key], { now: secondsOf(now()), prior: question.mac }))
}
