import { CLASS, message, RCODE, type Message, type ResourceRecord } from '../dns/message'
import { isWithin, sameName } from '../dns/name'
import { transferVerifier } from '../dns/tsig'
import { lifetime } from '../net/request-lifetime'
import { decodeAnswer, isAnswer, outgoing, secondsOf, strange, type Asking } from './ask'
import { AskFailed } from './failure'
import type { NameServerAsked } from './server'
import { refusal, refuseUnsigned, refuseUnverified } from './signed-answer'
import { connectTcp } from './tcp'

/** What a transfer may take: records, octets of its messages, and milliseconds for all of it. */
export interface TransferLimits extends Pick<Asking, 'signal'> {
  records: number
  octets: number
  timeoutMs: number
}

/**
 * All records of a zone by AXFR (RFC 5936), message by message: the SOA first, and not again at the end. Only when it ends without an
 * error is it proven that what came is the whole zone, and that nobody touched it: take nothing for good before.
 * @param zone absolute
 * @throws AskFailed
 */
export async function* transferZone(
  server: NameServerAsked,
  zone: string,
  limits: TransferLimits,
): AsyncGenerator<ResourceRecord[]> {
  const life = lifetime(limits.signal)
  life.after(limits.timeoutMs, 'The transfer took longer than its time limit.')
  try {
    const question = outgoing(server, message({ id: 0, question: [{ name: zone, type: 'AXFR', class: CLASS.IN }] }))
    const connection = await connectTcp(server.at, life)
    try {
      connection.send(question.octets)
      const verifier = server.key && transferVerifier(server.key, question.mac)
      const whole = new WholeZone(zone, limits)
      let sinceOthers = 0
      for (let first = true; !whole.ended; first = false) {
        const octets = await connection.next()
        if (!octets) throw new AskFailed('incomplete', 'The server ended the transfer before the end of the zone.', true)
        const answer = decodeAnswer(octets)
        if (!isAnswer(answer, question.message, !first || answer.rcode !== RCODE.NOERROR)) throw strange()
        if (verifier) {
          if (first || answer.tsig) refuseUnsigned(answer)
          refuseUnverified(verifier.next(octets, answer.tsig, secondsOf(server.now())))
        }
        const records = whole.take(answer, octets.length)
        // The last message has to be signed.
        if (whole.ended && verifier) refuseUnverified(verifier.end())
        yield records
        sinceOthers += octets.length
        if (sinceOthers < turnOctets) continue
        sinceOthers = 0
        await Bun.sleep(0)
      }
    } finally {
      connection.close()
    }
  } finally {
    life.release()
  }
}

// So many octets are read before others have their turn: what has come already is read without a pause.
const turnOctets = 64 * 1024

/** Holds messages to the form of a transfer (RFC 5936 2.2). */
class WholeZone {
  ended = false
  #soa: ResourceRecord | null = null
  #records = 0
  #octets = 0

  constructor(
    readonly zone: string,
    readonly limits: TransferLimits,
  ) {}

  /** The records of the next message, without the SOA at the end. @throws AskFailed */
  take({ rcode, answer, flags }: Message, octets: number): ResourceRecord[] {
    if (rcode !== RCODE.NOERROR) throw new AskFailed('refused', refusal(rcode), true, rcode)
    if (flags.tc) throw invalid('is cut')
    this.#octets += octets
    this.#records += answer.length
    if (this.#octets > this.limits.octets) throw tooLarge(`${this.limits.octets} octets`)
    // The SOA comes twice.
    if (this.#records > this.limits.records + 2) throw tooLarge(`${this.limits.records} records`)
    for (const [at, record] of answer.entries()) {
      if (record.class !== CLASS.IN || !isWithin(record.name, this.zone)) throw invalid('has a record that is not of the zone')
      const isSoa = record.type === 'SOA' && sameName(record.name, this.zone)
      if (!isSoa) {
        if (!this.#soa) throw invalid('does not begin with the SOA of the zone')
      } else if (!this.#soa) this.#soa = record
      else {
        if (at < answer.length - 1) throw invalid('goes on after its end')
        if (Buffer.compare(record.rdata, this.#soa.rdata) !== 0)
          throw new AskFailed('incomplete', 'The zone changed while it was transferred.', true)
        this.ended = true
        return answer.slice(0, at)
      }
    }
    return [...answer]
  }
}

const invalid = (what: string) => new AskFailed('invalid_answer', `The transfer of the zone ${what}.`, true)
const tooLarge = (limit: string) => new AskFailed('too_large', `The zone has more than ${limit}.`, true)
