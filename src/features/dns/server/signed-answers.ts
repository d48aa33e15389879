import { CLASS, RCODE, type Message } from '../../../dns/message'
import { decodeMessage } from '../../../dns/message-decode'
import { refuseTsig, signTsig, TSIG_ERROR, tsigLength, verifyTsig, type TsigKey } from '../../../dns/tsig'
import type { Answerer, ParsedQuery, SignedHandler } from './answerer'
import { increment, type ServerCounters } from './server-counters'
import type { IncomingNotifies } from './incoming-notifies'
import type { TransferKeys } from './transfer-keys'
import type { Transfers } from './transfers'
import { parentKey, type NameKey } from './name-key'
import { TYPE } from './indexed-set'
import { serialOf, type ZoneIndex, type ZoneSet } from './zone-index'

/** A response of one or more messages, each available when it is ready. */
export type AnswerStream = AsyncGenerator<Uint8Array, void>

/** Answers signed queries, zone transfers, and NOTIFY. */
export class SignedAnswers implements SignedHandler<AnswerStream> {
  /** Whether the last message was signed with a known key. */
  verified = false

  constructor(
    private readonly answerer: Answerer<AnswerStream>,
    private readonly context: {
      /** Zones that are visible to everyone, and zones that require a key. */
      zones: ZoneSet
      hidden: ZoneSet
      keys: TransferKeys
      transfers: Pick<Transfers, 'messages'>
      notifies: Pick<IncomingNotifies, 'answer' | 'keysOf'>
      counters: Pick<ServerCounters, 'transfers'>
      /** Seconds since 1970. */
      now(): number
    },
  ) {}

  signed(request: ParsedQuery): Uint8Array | AnswerStream {
    const verified = this.#verify(request)
    if (verified instanceof Uint8Array) return verified
    const { question } = request
    const isTransfer = question.type === TYPE.AXFR || question.type === TYPE.IXFR
    if (isTransfer && question.class === CLASS.IN && this.answerer.complete) return this.#transfer(request, verified)
    const refusal = this.answerer.refusalOf(question)
    if (refusal !== RCODE.NOERROR) return this.#sign(this.answerer.empty(request, refusal), verified)
    const hidden = this.#hiddenAbove(question.key, verified.key) && this.context.hidden
    return this.#sign(this.answerer.resolved(request, tsigLength(verified.key), hidden || undefined), verified)
  }

  notified(request: ParsedQuery): Uint8Array | AnswerStream {
    const verified = request.extras.tsig ? this.#verify(request) : null
    return verified instanceof Uint8Array
      ? this.#signedByProvider(copyOf(request), verified.slice())
      : this.#answerNotify(request, verified)
  }

  /** Verifies a NOTIFY signed with a key shared with a provider of the zone. Such keys give no access here. */
  async *#signedByProvider(request: ParsedQuery, refusal: Uint8Array): AnswerStream {
    const { query, extras, peer } = request
    const record = extras.tsig!
    const message = decodeMessage(query)
    const keys = await this.context.notifies.keysOf({ zone: message.question[0]!.name, key: record.key, peer })
    if (keys === null) return
    for (const key of keys) {
      const verdict = verifyTsig(query, record, [key], { now: this.context.now() })
      if (!verdict.ok) continue
      const answer = this.#answerNotify(request, { key: verdict.key, mac: verdict.mac, message })
      if (answer instanceof Uint8Array) yield answer
      else yield* answer
      return
    }
    yield refusal
  }

  #answerNotify(request: ParsedQuery, verified: VerifiedRequest | null): Uint8Array | AnswerStream {
    const { question, peer } = request
    // A NOTIFY must be for the SOA (RFC 1996 section 3.7).
    if (question.type !== TYPE.SOA || question.class !== CLASS.IN) {
      const refused = this.answerer.empty(request, RCODE.FORMERR)
      return verified ? this.#sign(refused, verified) : refused
    }
    const copy = copyOf(request)
    const emptyAnswer = (rcode: number) => {
      const octets = this.answerer.empty(copy, rcode, rcode === RCODE.NOERROR)
      return verified ? this.#sign(octets, verified) : octets.slice()
    }
    return this.context.notifies.answer({ zone: decodeMessage(copy.query).question[0]!.name, peer, emptyAnswer })
  }

  #transfer(request: ParsedQuery, verified: VerifiedRequest): Uint8Array | AnswerStream {
    const { question, transport, peer } = request
    const refuse = (rcode: number) => {
      increment(this.context.counters.transfers, 'refused')
      return this.#sign(this.answerer.empty(request, rcode), verified)
    }
    const isHidden = this.#mayTransfer(this.context.hidden.at(question.key), verified.key)
    const set = isHidden ? this.context.hidden : this.context.zones
    const zone = set.at(question.key)
    if (!zone) return refuse(RCODE.NOTAUTH)
    if (!this.#mayTransfer(zone, verified.key)) return refuse(RCODE.REFUSED)
    const from = question.type === TYPE.IXFR ? clientSerial(verified.message) : null
    if (from === undefined) return refuse(RCODE.FORMERR)
    if (transport === 'udp') {
      // AXFR requires TCP (RFC 5936 section 4.2). For IXFR the SOA tells the client to retry over TCP (RFC 1995 section 2).
      if (from === null) return refuse(RCODE.REFUSED)
      const soa = { ...request, question: { ...question, type: TYPE.SOA } }
      return this.#sign(this.answerer.resolved(soa, tsigLength(verified.key), set), verified)
    }
    const copy = copyOf(request)
    return this.context.transfers.messages({
      zone: () => set.at(question.key),
      hidden: isHidden,
      id: verified.message.id,
      question: verified.message.question[0]!,
      key: verified.key,
      mac: verified.mac,
      from,
      peer,
      owner: zone.owner,
      emptyAnswer: rcode => this.#sign(this.answerer.empty(copy, RCODE[rcode]), verified),
    })
  }

  /** Verifies the signature; returns a response if it is invalid, in the order of RFC 8945 section 5.2. */
  #verify(request: ParsedQuery): VerifiedRequest | Uint8Array {
    const { query, extras } = request
    const record = extras.tsig!
    const verdict = this.context.keys.verify(query, record, this.context.now())
    this.verified = verdict.ok
    if (verdict.ok) return { key: verdict.key, mac: verdict.mac, message: decodeMessage(query) }
    if (verdict.malformed) return this.answerer.empty(request, RCODE.FORMERR)
    const refused = this.answerer.empty(request, RCODE.NOTAUTH)
    const { error, key } = verdict
    if (!key || error === TSIG_ERROR.BADKEY || error === TSIG_ERROR.BADSIG) return refuseTsig(refused, record, error)
    // The signature is valid, so the response is signed. BADTIME includes both times (RFC 8945 section 5.2.3).
    const now = this.context.now()
    const times = error === TSIG_ERROR.BADTIME ? { time: record.timeSigned, serverTime: now } : { time: now }
    return signTsig(refused, key, { ...times, prior: record.mac, error }).message
  }

  #sign(octets: Uint8Array, { key, mac }: VerifiedRequest): Uint8Array {
    return signTsig(octets, key, { time: this.context.now(), prior: mac }).message
  }

  /** Returns whether a name is in a zone that requires this key. */
  #hiddenAbove(name: NameKey, key: TsigKey): boolean {
    for (let at = name; at.length > 1; at = parentKey(at)) if (this.#mayTransfer(this.context.hidden.at(at), key)) return true
    return false
  }

  #mayTransfer(zone: ZoneIndex | undefined, key: TsigKey): boolean {
    return zone !== undefined && this.context.keys.mayTransfer(key, zone)
  }
}

interface VerifiedRequest {
  key: TsigKey
  mac: Uint8Array
  message: Message
}

/** Copies the query: the receive buffer is reused. */
const copyOf = (request: ParsedQuery): ParsedQuery => ({ ...request, query: Uint8Array.from(request.query) })

/** Serial of the client, from the authority section (RFC 1995 section 3). */
function clientSerial({ question, authority }: Message): number | undefined {
  const soa = authority.find(one => one.type === 'SOA' && one.name.toLowerCase() === question[0]!.name.toLowerCase())
  return soa && soa.rdata.length >= 22 ? serialOf(soa.rdata) : undefined
}
