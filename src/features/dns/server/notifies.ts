import { RCODE } from '../../../core/dns/message'
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

/** Takes in that zones have changed elsewhere (RFC 1996). All it causes is that their serial is asked for, so anybody may tell. */
export class Notifies {
  readonly #limit = new ResponseRateLimit(perSecond)

  constructor(
    private readonly hub: Pick<HubLine, 'ask'>,
    private readonly counted: Pick<Counted, 'notifies'>,
  ) {}

  /** The answer, or nothing where somebody tells too much. */
  async *answer({ zone, peer, bare }: NotifyAsked): AsyncGenerator<Uint8Array, void> {
    if (this.#isTooMuch(peer)) return
    const isKept = await this.hub.ask({ kind: 'notified', zone })
    countUp(this.counted.notifies, isKept === undefined ? 'failed' : isKept ? 'taken' : 'refused')
    yield bare(isKept === undefined ? RCODE.SERVFAIL : isKept ? RCODE.NOERROR : RCODE.NOTAUTH)
  }

  /** Keys of this name that the servers have at which a zone is kept; null where somebody tells too much. */
  async keysOf({ zone, key, peer }: { zone: string; key: string; peer: string }): Promise<TsigKey[] | null> {
    if (this.#isTooMuch(peer)) return null
    return (await this.hub.ask({ kind: 'notify_keys', zone, key })) ?? []
  }

  #isTooMuch(peer: string): boolean {
    if (this.#limit.take(networkOf(peer) ?? LOOPBACK, performance.now()) === 'send') return false
    countUp(this.counted.notifies, 'dropped')
    return true
  }
}
