import { RCODE } from '../../../core/dns/message'
import { lowerName } from '../../../core/dns/name'
import type { TsigKey } from '../../../core/dns/tsig'
import { countUp, type Counted } from './counted'
import type { HubLine } from './hub-line'
import { networkOf, ResponseRateLimit } from './rate-limit'

/** A NOTIFY that is well-formed, and signed by a known key where it is signed at all. */
export interface NotifyAsked {
  /** Absolute. */
  zone: string
  /** The address it came from, which anybody may have written there. */
  peer: string
  /** The whole answer with this code. */
  bare(rcode: number): Uint8Array
}

// One network has no more to tell in earnest: a server tells of each zone once, and again where it got no answer.
const perSecond = 20
const LOOPBACK = -1
// Whoever writes many addresses on what he sends gets no more than this done by the hub in a second, whatever he tells of,
const questionsPerSecond = 300
const EVERYBODY = 1
// and of one zone, however often he tells of it, one question in this time.
const togetherMs = 1000

/** Takes in that zones have changed elsewhere (RFC 1996). All it causes is that their serial is asked for, so anybody may tell. */
export class Notifies {
  readonly #limit = new ResponseRateLimit(perSecond)
  readonly #questions = new ResponseRateLimit(questionsPerSecond, 0, 1)
  /** Zones that were asked for just now. */
  readonly #recent = new Map<string, { isKept: Promise<boolean | undefined>; again: boolean }>()

  constructor(
    private readonly hub: Pick<HubLine, 'ask'>,
    private readonly counted: Pick<Counted, 'notifies'>,
  ) {}

  /** The answer, or nothing where somebody tells too much. */
  async *answer({ zone, peer, bare }: NotifyAsked): AsyncGenerator<Uint8Array, void> {
    const asked = this.#isTooMuch(peer) ? null : this.#asked(lowerName(zone))
    if (!asked) return this.#dropped()
    const isKept = await asked
    countUp(this.counted.notifies, isKept === undefined ? 'failed' : isKept ? 'taken' : 'refused')
    yield bare(isKept === undefined ? RCODE.SERVFAIL : isKept ? RCODE.NOERROR : RCODE.NOTAUTH)
  }

  /** Keys of this name that the servers have at which a zone is kept; null where somebody tells too much. */
  async keysOf({ zone, key, peer }: { zone: string; key: string; peer: string }): Promise<TsigKey[] | null> {
    if (this.#isTooMuch(peer) || !this.#mayAsk()) {
      this.#dropped()
      return null
    }
    return (await this.hub.ask({ kind: 'notify_keys', zone, key })) ?? []
  }

  /** Whether a zone is kept elsewhere too. Who asks again soon gets the same answer, and the hub is told once more after a while. */
  #asked(zone: string): Promise<boolean | undefined> | null {
    const recent = this.#recent.get(zone)
    if (recent) {
      recent.again = true
      return recent.isKept
    }
    if (!this.#mayAsk()) return null
    const one = { isKept: this.hub.ask({ kind: 'notified', zone }), again: false }
    this.#recent.set(zone, one)
    setTimeout(() => {
      this.#recent.delete(zone)
      if (one.again) void this.#asked(zone)
    }, togetherMs)
    return one.isKept
  }

  #isTooMuch(peer: string): boolean {
    return this.#limit.take(networkOf(peer) ?? LOOPBACK, performance.now()) !== 'send'
  }

  #mayAsk(): boolean {
    return this.#questions.take(EVERYBODY, performance.now()) === 'send'
  }

  #dropped(): void {
    countUp(this.counted.notifies, 'dropped')
  }
}
