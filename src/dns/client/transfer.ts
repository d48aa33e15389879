import { CLASS, message, RCODE, type Message, type ResourceRecord } from '../message'
import { isWithin, sameName } from '../name'
import { transferVerifier } from '../tsig'
import { lifetime } from '../../core/net/request-lifetime'
import { decodeAnswer, isAnswer, outgoing, secondsOf, mismatchedResponse, type QueryOptions } from './query-server'
import { QueryFailed } from './failure'
import type { QueriedServer } from './server'
import { rcodeMessage, requireSigned, requireVerified } from './signed-answer'
import { connectTcp } from './tcp'

/** Limits of a transfer: records, octets, and total milliseconds. */
export interface TransferLimits extends Pick<QueryOptions, 'signal'> {
  records: number
  octets: number
  timeoutMs: number
}

/**
 * Transfers a zone by AXFR (RFC 5936), message by message: the SOA comes first, and is not repeated at the end. Don't store anything
 * before the generator ends without an error: only then is the zone complete and verified.
 * @param zone absolute
 * @throws QueryFailed
 */
export async function* transferZone(
  server: QueriedServer,
  zone: string,
  limits: TransferLimits,
): AsyncGenerator<ResourceRecord[]> {
  const life = lifetime(limits.signal)
  life.after(limits.timeoutMs, 'The transfer timed out.')
  try {
    const question = outgoing(server, message({ id: 0, question: [{ name: zone, type: 'AXFR', class: CLASS.IN }] }))
    const connection = await connectTcp(server.at, life)
    try {
      connection.send(question.octets)
      const verifier = server.key && transferVerifier(server.key, question.mac)
      const whole = new WholeZone(zone, limits)
      let sinceYield = 0
      for (let first = true; !whole.ended; first = false) {
        const octets = await connection.next()
        if (!octets) throw new QueryFailed('incomplete', 'The server ended the transfer before the end of the zone.', true)
        const answer = decodeAnswer(octets)
        if (!isAnswer(answer, question.message, !first || answer.rcode !== RCODE.NOERROR)) throw mismatchedResponse()
        if (verifier) {
          if (first || answer.tsig) requireSigned(answer)
          requireVerified(verifier.next(octets, answer.tsig, secondsOf(server.now())))
        }
        const records = whole.take(answer, octets.length)
        // The last message must be signed.
        if (whole.ended && verifier) requireVerified(verifier.end())
        yield records
        sinceYield += octets.length
        if (sinceYield < yieldOctets) continue
        sinceYield = 0
        await Bun.sleep(0)
      }
    } finally {
      connection.close()
    }
  } finally {
    life.release()
  }
}

// Yield to other work after this many octets: buffered messages are read without waiting.
const yieldOctets = 64 * 1024

/** Validates the structure of a transfer (RFC 5936 section 2.2). */
class WholeZone {
  ended = false
  #soa: ResourceRecord | null = null
  #records = 0
  #octets = 0

  constructor(
    readonly zone: string,
    readonly limits: TransferLimits,
  ) {}

  /** Returns the records of the next message, without the final SOA. @throws QueryFailed */
  take({ rcode, answer, flags }: Message, octets: number): ResourceRecord[] {
    if (rcode !== RCODE.NOERROR) throw new QueryFailed('refused', rcodeMessage(rcode), true, rcode)
    if (flags.tc) throw invalid('is truncated')
    this.#octets += octets
    this.#records += answer.length
    if (this.#octets > this.limits.octets) throw tooLarge(`${this.limits.octets} octets`)
    // The SOA comes twice.
    if (this.#records > this.limits.records + 2) throw tooLarge(`${this.limits.records} records`)
    for (const [at, record] of answer.entries()) {
      if (record.class !== CLASS.IN || !isWithin(record.name, this.zone)) throw invalid('has a record outside the zone')
      const isSoa = record.type === 'SOA' && sameName(record.name, this.zone)
      if (!isSoa) {
        if (!this.#soa) throw invalid('does not start with the SOA of the zone')
      } else if (!this.#soa) this.#soa = record
      else {
        if (at < answer.length - 1) throw invalid('continues after its end')
        if (Buffer.compare(record.rdata, this.#soa.rdata) !== 0)
          throw new QueryFailed('incomplete', 'The zone changed during the transfer.', true)
        this.ended = true
        return answer.slice(0, at)
      }
    }
    return [...answer]
  }
}

const invalid = (what: string) => new QueryFailed('invalid_response', `The zone transfer ${what}.`, true)
const tooLarge = (limit: string) => new QueryFailed('too_large', `The zone has more than ${limit}.`, true)
