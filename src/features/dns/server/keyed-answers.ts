import { CLASS, RCODE, type Message } from '../../../core/dns/message'
import { decodeMessage } from '../../../core/dns/message-decode'
import { refuseTsig, signTsig, TSIG_ERROR, tsigLength, verifyTsig, type TsigKey } from '../../../core/dns/tsig'
import type { Answerer, Asked, Keyed } from './answerer'
import { countUp, type Counted } from './counted'
import type { Notifies } from './notifies'
import type { TransferKeys } from './transfer-keys'
import type { Transfers } from './transfers'
import { parentKey, type NameKey } from './name-key'
import { serialOf, TYPE, type ZoneIndex, type ZoneSet } from './zone-index'

/** An answer of one message or of several, each when it is ready. */
export type Later = AsyncGenerator<Uint8Array, void>

/** Answers what is signed, transfers, and NOTIFY. */
export class KeyedAnswers implements Keyed<Later> {
  /** Whether the last message was signed by a key that is known. */
  verified = false

  constructor(
    private readonly answerer: Answerer<Later>,
    private readonly around: {
      /** What everybody is answered from, and what only holders of a key are. */
      zones: ZoneSet
      hidden: ZoneSet
      keys: TransferKeys
      transfers: Pick<Transfers, 'messages'>
      notifies: Pick<Notifies, 'answer' | 'keysOf'>
      counted: Pick<Counted, 'transfers'>
      /** Seconds since 1970. */
      now(): number
    },
  ) {}

  signed(asked: Asked): Uint8Array | Later {
    const proof = this.#proofOf(asked)
    if (proof instanceof Uint8Array) return proof
    const { question } = asked
    const isTransfer = question.type === TYPE.AXFR || question.type === TYPE.IXFR
    if (isTransfer && question.class === CLASS.IN && this.answerer.complete) return this.#transfer(asked, proof)
    const refusal = this.answerer.refusalOf(question)
    if (refusal !== RCODE.NOERROR) return this.#sign(this.answerer.empty(asked, refusal), proof)
    const hidden = this.#hiddenAbove(question.key, proof.key) && this.around.hidden
    return this.#sign(this.answerer.resolved(asked, tsigLength(proof.key), hidden || undefined), proof)
  }

  notified(asked: Asked): Uint8Array | Later {
    const proof = asked.extras.tsig ? this.#proofOf(asked) : null
    return proof instanceof Uint8Array ? this.#signedElsewhere(own(asked), proof.slice()) : this.#told(asked, proof)
  }

  /** A server where a zone is also kept signs with the key that it has in common with the hub, which opens nothing here. */
  async *#signedElsewhere(asked: Asked, refusal: Uint8Array): Later {
    const { query, extras, peer } = asked
    const record = extras.tsig!
    const message = decodeMessage(query)
    const keys = await this.around.notifies.keysOf({ zone: message.question[0]!.name, key: record.key, peer })
    if (keys === null) return
    for (const key of keys) {
      const verdict = verifyTsig(query, record, [key], { now: this.around.now() })
      if (!verdict.ok) continue
      const answer = this.#told(asked, { key: verdict.key, mac: verdict.mac, message })
      if (answer instanceof Uint8Array) yield answer
      else yield* answer
      return
    }
    yield refusal
  }

  #told(asked: Asked, proof: Proof | null): Uint8Array | Later {
    const { question, peer } = asked
    // RFC 1996 3.7: it is of the SOA.
    if (question.type !== TYPE.SOA || question.class !== CLASS.IN) {
      const refused = this.answerer.empty(asked, RCODE.FORMERR)
      return proof ? this.#sign(refused, proof) : refused
    }
    const kept = own(asked)
    const bare = (rcode: number) => {
      const octets = this.answerer.empty(kept, rcode, rcode === RCODE.NOERROR)
      return proof ? this.#sign(octets, proof) : octets.slice()
    }
    return this.around.notifies.answer({ zone: decodeMessage(kept.query).question[0]!.name, peer, bare })
  }

  #transfer(asked: Asked, proof: Proof): Uint8Array | Later {
    const { question, transport, peer } = asked
    const refused = (rcode: number) => {
      countUp(this.around.counted.transfers, 'refused')
      return this.#sign(this.answerer.empty(asked, rcode), proof)
    }
    const isHidden = this.#opens(this.around.hidden.at(question.key), proof.key)
    const set = isHidden ? this.around.hidden : this.around.zones
    const zone = set.at(question.key)
    if (!zone) return refused(RCODE.NOTAUTH)
    if (!this.#opens(zone, proof.key)) return refused(RCODE.REFUSED)
    const from = question.type === TYPE.IXFR ? serialIn(proof.message) : null
    if (from === undefined) return refused(RCODE.FORMERR)
    if (transport === 'udp') {
      // A transfer of all is for TCP (RFC 5936 4.2); for changes the SOA tells the client to come again by TCP (RFC 1995 2).
      if (from === null) return refused(RCODE.REFUSED)
      const soa = { ...asked, question: { ...question, type: TYPE.SOA } }
      return this.#sign(this.answerer.resolved(soa, tsigLength(proof.key), set), proof)
    }
    const kept = own(asked)
    return this.around.transfers.messages({
      zone: () => set.at(question.key),
      hidden: isHidden,
      id: proof.message.id,
      question: proof.message.question[0]!,
      key: proof.key,
      mac: proof.mac,
      from,
      peer,
      owner: zone.owner,
      bare: rcode => this.#sign(this.answerer.empty(kept, RCODE[rcode]), proof),
    })
  }

  /** Who signed, or the answer to a signature that is worth nothing, in the order of RFC 8945 5.2. */
  #proofOf(asked: Asked): Proof | Uint8Array {
    const { query, extras } = asked
    const record = extras.tsig!
    const verdict = this.around.keys.verify(query, record, this.around.now())
    this.verified = verdict.ok
    if (verdict.ok) return { key: verdict.key, mac: verdict.mac, message: decodeMessage(query) }
    if (verdict.malformed) return this.answerer.empty(asked, RCODE.FORMERR)
    const refused = this.answerer.empty(asked, RCODE.NOTAUTH)
    const { error, key } = verdict
    if (!key || error === TSIG_ERROR.BADKEY || error === TSIG_ERROR.BADSIG) return refuseTsig(refused, record, error)
    // The signature held, so the answer is signed too; a wrong time is answered with theirs and ours (RFC 8945 5.2.3).
    const now = this.around.now()
    const times = error === TSIG_ERROR.BADTIME ? { time: record.timeSigned, serverTime: now } : { time: now }
    return signTsig(refused, key, { ...times, prior: record.mac, error }).message
  }

  #sign(octets: Uint8Array, { key, mac }: Proof): Uint8Array {
    return signTsig(octets, key, { time: this.around.now(), prior: mac }).message
  }

  /** Whether a name is in a zone that only this key, and others like it, may see. */
  #hiddenAbove(name: NameKey, key: TsigKey): boolean {
    for (let at = name; at.length > 1; at = parentKey(at)) if (this.#opens(this.around.hidden.at(at), key)) return true
    return false
  }

  #opens(zone: ZoneIndex | undefined, key: TsigKey): boolean {
    return zone !== undefined && this.around.keys.opens(key, zone)
  }
}

interface Proof {
  key: TsigKey
  mac: Uint8Array
  message: Message
}

/** What stays as it is when the octets that came are written over. */
const own = (asked: Asked): Asked => ({ ...asked, query: Uint8Array.from(asked.query) })

/** The serial of the client, which stands in the authority section (RFC 1995 3). */
function serialIn({ question, authority }: Message): number | undefined {
  const soa = authority.find(one => one.type === 'SOA' && one.name.toLowerCase() === question[0]!.name.toLowerCase())
  return soa && soa.rdata.length >= 22 ? serialOf(soa.rdata) : undefined
}
