import { OPT_CODE, UDP_SIZE } from '../../../dns/edns'
import { CLASS, OPCODE, RCODE } from '../../../dns/message'
import { UDP_MAX_PLAIN } from '../../../dns/message-encode'
import { refuseTsig, TSIG_ERROR } from '../../../dns/tsig'
import { TSIG_CODE } from '../../../dns/tsig-record'
import { AnswerWriter } from './answer-writer'
import { parentKey, type NameKey } from './name-key'
import { readExtras, readQuestion, type Extras, type Question } from './query'
import { resolve } from './resolve'
import { TYPE } from './indexed-set'
import type { ZoneSet } from './zone-index'

/** Transport of a query. TCP responses can have up to 65535 octets. */
type Transport = 'udp' | 'tcp'

/** The part of a response after the question, ready to be sent again. */
interface Stored {
  /** The AA bit. */
  aa: number
  rcode: number
  /** Record counts of the answer, authority and additional section. */
  counts: readonly [number, number, number]
  tail: Uint8Array
}

const QR = 0x80
const AA = 0x04
const TC = 0x02
const OPCODE_RD = 0x79
const OPT_OCTETS = 11
// Limits of the response cache. It is cleared when it is full.
const STORED_MAX = 65_536
const STORED_OCTETS_MAX = 16 * 1024 * 1024

/** A parsed message. */
export interface ParsedQuery {
  query: Uint8Array
  question: Question
  extras: Extras
  transport: Transport
  /** Source address; empty where it doesn't matter. */
  peer: string
}

/** Handles signed messages and NOTIFY. `S` is a stream of messages that are ready later. */
export interface SignedHandler<L> {
  /** Handles a query with a TSIG. */
  signed(request: ParsedQuery): Uint8Array | L
  /** Handles a NOTIFY (RFC 1996). */
  notified(request: ParsedQuery): Uint8Array | L
}

/**
 * Answers queries for a set of zones. Caches responses in wire form until `forget` is called because a zone has changed: by name for
 * names that exist, and by the closest existing name above for others, so that random names don't fill the cache.
 */
export class Answerer<L = never> {
  readonly #zones: ZoneSet
  readonly #writer = new AnswerWriter()
  readonly #stored = new Map<string, Stored>()
  #storedOctets = 0
  /** RCODE of the last response. */
  #last = 0
  /** False until all zones are loaded. Until then queries get SERVFAIL, so that nobody caches a REFUSED for a missing zone. */
  complete = true
  /** Without it, no TSIG key is known, and NOTIFY is not implemented. */
  keyed: SignedHandler<L> | null = null

  constructor(
    zones: ZoneSet,
    /** Counts responses by RCODE, including the extended bits of EDNS. */
    readonly rcodes = new Uint32Array(24),
  ) {
    this.#zones = zones
  }

  /** Uncounts the last response, which was not sent. */
  unsent(): void {
    this.rcodes[this.#last]!--
  }

  /** Clears the cache. Must be called after each change of the zones. */
  forget(): void {
    this.#stored.clear()
    this.#storedOctets = 0
  }

  /**
   * Returns the response to a message, or null if it gets none because it is shorter than a header or is a response itself. Never
   * throws. Unsupported opcodes, such as UPDATE (RFC 2136), get NOTIMP.
   * @returns octets that are valid until the next call
   */
  answer(query: Uint8Array, transport: Transport, peer = ''): Uint8Array | L | null {
    if (query.length < 12 || (query[2]! & QR) !== 0) return null
    const opcode = (query[2]! >> 3) & 15
    if (opcode !== OPCODE.QUERY && (opcode !== OPCODE.NOTIFY || !this.keyed)) return this.#header(query, RCODE.NOTIMP)
    if (query[4] !== 0 || query[5] !== 1) return this.#header(query, RCODE.FORMERR)
    const question = readQuestion(query)
    const extras = question && readExtras(query, question.end)
    if (!question || !extras) return this.#header(query, RCODE.FORMERR)
    const request = { query, question, extras, transport, peer }
    if (extras.version > 0) return this.empty(request, RCODE.BADVERS)
    if (opcode === OPCODE.NOTIFY) return this.keyed!.notified(request)
    if (extras.tsig) {
      // Without any key, a signed query gets BADKEY (RFC 8945 section 5.2.1).
      return this.keyed?.signed(request) ?? refuseTsig(this.empty(request, RCODE.NOTAUTH), extras.tsig, TSIG_ERROR.BADKEY)
    }
    const refusal = this.refusalOf(question)
    return refusal === RCODE.NOERROR ? this.resolved(request, 0) : this.empty(request, refusal)
  }

  /** RCODE for questions that are not looked up because of their class or type (RFC 6895 sections 3.1 and 3.2), or NOERROR. */
  refusalOf({ type, class: classOf }: Question): number {
    if (!this.complete) return RCODE.SERVFAIL
    if (classOf !== CLASS.IN) return classOf === 0 || classOf === CLASS.NONE ? RCODE.FORMERR : RCODE.REFUSED
    // Transfers require a key.
    if (type === TYPE.IXFR || type === TYPE.AXFR) return RCODE.REFUSED
    if (type === 0 || type === OPT_CODE || type === TSIG_CODE) return RCODE.FORMERR
    return type >= 128 && type < 255 ? RCODE.NOTIMP : RCODE.NOERROR
  }

  /**
   * Returns the response from a set of zones, without a signature.
   * @param zones defaults to those of this answerer
   * @param reserve octets to reserve for the signature
   */
  resolved({ query, question, extras, transport }: ParsedQuery, reserve: number, zones?: ZoneSet): Uint8Array {
    let stored = zones ? undefined : this.#storedFor(question)
    const room = limitOf(extras, transport) - reserve - (extras.udpSize === null ? 0 : OPT_OCTETS)
    let tc = 0
    if (!stored || question.end + stored.tail.length > room) {
      const written = this.#write(zones ?? this.#zones, query, question, room)
      stored = written.stored
      if (written.whole) {
        if (written.key !== null && !zones) this.#store(written.key, stored)
      } else tc = TC
    }
    const { bytes } = this.#writer
    copyQuestion(bytes, query, question.end)
    bytes.set(stored.tail, question.end)
    return this.#finish(query, extras, question.end + stored.tail.length, stored.counts, stored.aa | tc, stored.rcode)
  }

  /** Returns a truncated response, so that the client retries over TCP. @param query one that `answer` returned a response for */
  truncated(query: Uint8Array): Uint8Array {
    // A response has the opcode of its query. For others than QUERY there is nothing shorter than the header.
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
  ): { stored: Stored; whole: boolean; key: string | null } {
    const found = resolve(zones, { key, octets: query.subarray(12, end - 4) }, type)
    const writer = this.#writer
    writer.begin(key, end, found.encloser ?? key)
    const answer = writer.sets(found.answer, room)
    const authority = answer.whole ? writer.sets(found.authority, room) : none
    const glue = authority.whole ? writer.sets(found.glue, room) : none
    // These are optional; clients can query for them.
    const addresses = glue.whole ? writer.sets(found.addresses, room) : none
    return {
      stored: {
        aa: found.authoritative ? AA : 0,
        rcode: found.rcode,
        counts: [answer.records, authority.records, glue.records + addresses.records],
        tail: writer.bytes.slice(end, writer.offset),
      },
      whole: answer.whole && authority.whole && glue.whole,
      key: !addresses.whole
        ? null
        : found.exact
          ? storedKey(key, type)
          : found.encloser && commonKey(found.encloser, type, key.length),
    }
  }

  #storedFor({ key, type }: Question): Stored | undefined {
    const exact = this.#stored.get(storedKey(key, type))
    if (exact) return exact
    const zone = this.#zones.enclosing(key, type)
    if (!zone || zone.has(key)) return undefined
    let encloser = parentKey(key)
    while (!zone.has(encloser)) encloser = parentKey(encloser)
    return this.#stored.get(commonKey(encloser, type, key.length))
  }

  #store(key: string, stored: Stored): void {
    if (this.#stored.size >= STORED_MAX || this.#storedOctets > STORED_OCTETS_MAX) this.forget()
    this.#stored.set(key, stored)
    this.#storedOctets += stored.tail.length
  }

  /** Returns a response without records. */
  empty(
    { query, question, extras }: Pick<ParsedQuery, 'query' | 'question' | 'extras'>,
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
    // The DO bit is copied (RFC 3225 section 3).
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

  /** Returns a response with only a header, for messages that could not be parsed. */
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

/** Key of the response for names of this length that don't exist and have this closest existing name above them. */
const commonKey = (encloser: NameKey, type: number, length: number): string =>
  encloser + String.fromCharCode(type) + String.fromCharCode(length)

const storedKey = (key: NameKey, type: number): string => key + String.fromCharCode(type)

const limitOf = ({ udpSize }: Extras, transport: Transport): number =>
  transport === 'tcp' ? 0xffff : udpSize === null ? UDP_MAX_PLAIN : Math.min(Math.max(udpSize, UDP_MAX_PLAIN), UDP_SIZE)

function copyQuestion(bytes: Uint8Array, query: Uint8Array, end: number): void {
  for (let at = 12; at < end; at++) bytes[at] = query[at]!
}
