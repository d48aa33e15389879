import { OPT_CODE, UDP_SIZE } from '../../../core/dns/edns'
import { CLASS, OPCODE, RCODE } from '../../../core/dns/message'
import { UDP_MAX_PLAIN } from '../../../core/dns/message-encode'
import { refuseTsig, TSIG_ERROR } from '../../../core/dns/tsig'
import { TSIG_CODE } from '../../../core/dns/tsig-record'
import { AnswerWriter } from './answer-writer'
import type { NameKey } from './name-key'
import { readExtras, readQuestion, type Extras, type Question } from './query'
import { resolve } from './resolve'
import { TYPE, type ZoneSet } from './zone-index'

/** How a query came: by TCP an answer may have 65535 octets. */
export type Transport = 'udp' | 'tcp'

/** What follows the question of an answer, ready to be sent again. */
interface Stored {
  /** The AA bit. */
  aa: number
  rcode: number
  /** Records in the answer, the authority and the additional section. */
  counts: readonly [number, number, number]
  tail: Uint8Array
}

const QR = 0x80
const AA = 0x04
const TC = 0x02
const OPCODE_RD = 0x79
const OPT_OCTETS = 11
// So many answers are kept ready, and so many octets of them; what is asked after that begins anew.
const STORED_MAX = 65_536
const STORED_OCTETS_MAX = 16 * 1024 * 1024

/** A message that was understood. */
export interface Asked {
  query: Uint8Array
  question: Question
  extras: Extras
  transport: Transport
  /** The address it came from; empty where that does not matter. */
  peer: string
}

/** What needs a key, or more than a step: an `L` is an answer that comes later, or one of several messages. */
export interface Keyed<L> {
  /** A query with a signature. */
  signed(asked: Asked): Uint8Array | L
  /** A message that tells of a change elsewhere (RFC 1996). */
  notified(asked: Asked): Uint8Array | L
}

/**
 * Answers queries about the zones of one set. Answers about names that exist are kept as they are on the wire, until
 * `forget` is called because a zone has changed.
 */
export class Answerer<L = never> {
  readonly #zones: ZoneSet
  readonly #writer = new AnswerWriter()
  readonly #stored = new Map<string, Stored>()
  #storedOctets = 0
  /** The rcode of the last answer. */
  #last = 0
  /** False until all zones are there: what is asked before may be of one that is not, and nobody must learn that it is refused. */
  complete = true
  /** Without it no key is known, and nothing is taken in. */
  keyed: Keyed<L> | null = null

  constructor(
    zones: ZoneSet,
    /** Answers by rcode, with the high bits of EDNS; counted up here. */
    readonly rcodes = new Uint32Array(24),
  ) {
    this.#zones = zones
  }

  /** The last answer is not sent: it counts no more. */
  unsent(): void {
    this.rcodes[this.#last]!--
  }

  /** Lets go of the answers that are ready: to be called after every change of the zones. */
  forget(): void {
    this.#stored.clear()
    this.#storedOctets = 0
  }

  /**
   * The answer to a message, or null when it gets none: it is too short to have a header, or is itself an answer.
   * Never throws, whatever it is given. What is not a query is sorted out here by its opcode: UPDATE (RFC 2136), as everything
   * that nobody takes in, is answered NOTIMP.
   * @returns octets that stay as they are until the next call
   */
  answer(query: Uint8Array, transport: Transport, peer = ''): Uint8Array | L | null {
    if (query.length < 12 || (query[2]! & QR) !== 0) return null
    const opcode = (query[2]! >> 3) & 15
    if (opcode !== OPCODE.QUERY && (opcode !== OPCODE.NOTIFY || !this.keyed)) return this.#header(query, RCODE.NOTIMP)
    if (query[4] !== 0 || query[5] !== 1) return this.#header(query, RCODE.FORMERR)
    const question = readQuestion(query)
    const extras = question && readExtras(query, question.end)
    if (!question || !extras) return this.#header(query, RCODE.FORMERR)
    const asked = { query, question, extras, transport, peer }
    if (extras.version > 0) return this.empty(asked, RCODE.BADVERS)
    if (opcode === OPCODE.NOTIFY) return this.keyed!.notified(asked)
    if (extras.tsig) {
      // Where no key is known, whoever signs is told that (RFC 8945 5.2.1).
      return this.keyed?.signed(asked) ?? refuseTsig(this.empty(asked, RCODE.NOTAUTH), extras.tsig, TSIG_ERROR.BADKEY)
    }
    const refusal = this.refusalOf(question)
    return refusal === RCODE.NOERROR ? this.resolved(asked, 0) : this.empty(asked, refusal)
  }

  /** Why a question is not looked up at all, or NOERROR: its class or its type is none of zones (RFC 6895 3.1, 3.2). */
  refusalOf({ type, class: classOf }: Question): number {
    if (!this.complete) return RCODE.SERVFAIL
    if (classOf !== CLASS.IN) return classOf === 0 || classOf === CLASS.NONE ? RCODE.FORMERR : RCODE.REFUSED
    // Transfers are refused to whoever shows no key.
    if (type === TYPE.IXFR || type === TYPE.AXFR) return RCODE.REFUSED
    if (type === 0 || type === OPT_CODE || type === TSIG_CODE) return RCODE.FORMERR
    return type >= 128 && type < 255 ? RCODE.NOTIMP : RCODE.NOERROR
  }

  /**
   * The answer from a set of zones, without a signature.
   * @param zones those of this answerer when left out
   * @param reserve octets to be kept free for the signature
   */
  resolved({ query, question, extras, transport }: Asked, reserve: number, zones?: ZoneSet): Uint8Array {
    const key = storedKey(question.key, question.type)
    let stored = zones ? undefined : this.#stored.get(key)
    const room = limitOf(extras, transport) - reserve - (extras.udpSize === null ? 0 : OPT_OCTETS)
    let tc = 0
    if (!stored || question.end + stored.tail.length > room) {
      const made = this.#write(zones ?? this.#zones, query, question, room)
      stored = made.stored
      if (made.whole) {
        if (made.exact && !zones) this.#store(key, stored)
      } else tc = TC
    }
    const { bytes } = this.#writer
    copyQuestion(bytes, query, question.end)
    bytes.set(stored.tail, question.end)
    return this.#finish(query, extras, question.end + stored.tail.length, stored.counts, stored.aa | tc, stored.rcode)
  }

  /** The answer that asks to come again by TCP. @param query one that `answer` has answered */
  truncated(query: Uint8Array): Uint8Array {
    // An answer has the opcode of its query, and to these there is none that is shorter.
    if (((query[2]! >> 3) & 15) !== OPCODE.QUERY) return this.#header(query, RCODE.NOTIMP)
    const question = readQuestion(query)
    const extras = question && readExtras(query, question.end)
    if (!question || !extras) return this.#header(query, RCODE.FORMERR)
    const answer = this.empty({ query, question, extras }, RCODE.NOERROR)
    answer[2]! |= TC
    return answer
  }

  #write(
    zones: ZoneSet,
    query: Uint8Array,
    { key, type, end }: Question,
    room: number,
  ): { stored: Stored; whole: boolean; exact: boolean } {
    const found = resolve(zones, { key, octets: query.subarray(12, end - 4) }, type)
    const writer = this.#writer
    writer.begin(key, end)
    const answer = writer.sets(found.answer, room)
    const authority = answer.whole ? writer.sets(found.authority, room) : none
    const glue = authority.whole ? writer.sets(found.glue, room) : none
    // These may be left out; whoever needs them can ask.
    const addresses = glue.whole ? writer.sets(found.addresses, room) : none
    return {
      stored: {
        aa: found.authoritative ? AA : 0,
        rcode: found.rcode,
        counts: [answer.records, authority.records, glue.records + addresses.records],
        tail: writer.bytes.slice(end, writer.offset),
      },
      whole: answer.whole && authority.whole && glue.whole,
      exact: found.exact && addresses.whole,
    }
  }

  #store(key: string, stored: Stored): void {
    if (this.#stored.size >= STORED_MAX || this.#storedOctets > STORED_OCTETS_MAX) this.forget()
    this.#stored.set(key, stored)
    this.#storedOctets += stored.tail.length
  }

  /** An answer with nothing but the question and the opcode; with AA if it is to have that. */
  empty(
    { query, question, extras }: Pick<Asked, 'query' | 'question' | 'extras'>,
    rcode: number,
    authoritative = false,
  ): Uint8Array {
    copyQuestion(this.#writer.bytes, query, question.end)
    return this.#finish(query, extras, question.end, [0, 0, 0], authoritative ? AA : 0, rcode)
  }

  #finish(
    query: Uint8Array,
    extras: Extras,
    end: number,
    [answers, authorities, additionals]: readonly [number, number, number],
    bits: number,
    rcode: number,
  ): Uint8Array {
    const { bytes } = this.#writer
    this.#count(rcode)
    bytes[0] = query[0]!
    bytes[1] = query[1]!
    bytes[2] = QR | (query[2]! & OPCODE_RD) | bits
    bytes[3] = rcode & 15
    bytes[4] = 0
    bytes[5] = 1
    bytes[6] = answers >> 8
    bytes[7] = answers
    bytes[8] = authorities >> 8
    bytes[9] = authorities
    if (extras.udpSize === null) {
      bytes[10] = additionals >> 8
      bytes[11] = additionals
      return bytes.subarray(0, end)
    }
    bytes[10] = (additionals + 1) >> 8
    bytes[11] = additionals + 1
    bytes[end] = 0
    bytes[end + 1] = 0
    bytes[end + 2] = OPT_CODE
    bytes[end + 3] = UDP_SIZE >> 8
    bytes[end + 4] = UDP_SIZE & 0xff
    bytes[end + 5] = rcode >> 4
    bytes[end + 6] = 0
    // DO comes back as it was sent (RFC 3225 3).
    bytes[end + 7] = extras.dnssecOk ? 0x80 : 0
    bytes[end + 8] = 0
    bytes[end + 9] = 0
    bytes[end + 10] = 0
    return bytes.subarray(0, end + OPT_OCTETS)
  }

  #count(rcode: number): void {
    this.rcodes[rcode]!++
    this.#last = rcode
  }

  /** What can be said of a message of which no more than its header is understood. */
  #header(query: Uint8Array, rcode: number): Uint8Array {
    const { bytes } = this.#writer
    this.#count(rcode)
    bytes.fill(0, 0, 12)
    bytes[0] = query[0]!
    bytes[1] = query[1]!
    bytes[2] = QR | (query[2]! & OPCODE_RD)
    bytes[3] = rcode
    return bytes.subarray(0, 12)
  }
}

const none = { records: 0, whole: false }

const storedKey = (key: NameKey, type: number): string => key + String.fromCharCode(type)

const limitOf = ({ udpSize }: Extras, transport: Transport): number =>
  transport === 'tcp' ? 0xffff : udpSize === null ? UDP_MAX_PLAIN : Math.min(Math.max(udpSize, UDP_MAX_PLAIN), UDP_SIZE)

function copyQuestion(bytes: Uint8Array, query: Uint8Array, end: number): void {
  for (let at = 12; at < end; at++) bytes[at] = query[at]!
}
