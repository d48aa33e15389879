import { RCODE } from '../../../dns/message'
import { lowerName } from '../../../dns/name'
import type { TsigKey } from '../../../dns/tsig'
import { increment, type ServerCounters } from './server-counters'
import type { HubRequests } from './hub-requests'
import { networkOf, ResponseRateLimit } from './rate-limit'

/** A well-formed NOTIFY, with a verified signature if it has one. */
interface NotifyRequest {
  /** Absolute. */
  zone: string
  /** Source address, which can be spoofed. */
  peer: string
  /** Builds the response with this RCODE. */
  emptyAnswer(rcode: number): Uint8Array
}

// Enough for one network: a server sends one NOTIFY per zone and change, plus retries.
const perSecond = 20
const LOOPBACK = -1
// Limit of requests to the hub, also if source addresses are spoofed,
const requestsPerSecond = 300
const ALL_SENDERS = 1
// and at most one request per zone in this time.
const mergeMs = 1000

/** Handles NOTIFY messages (RFC 1996). They only cause a read of the zone's serial, so anyone may send them. */
export class IncomingNotifies {
  readonly #limit = new ResponseRateLimit(perSecond)
  readonly #requests = new ResponseRateLimit(requestsPerSecond, 0, 1)
  /** Zones that the hub was recently pending about. */
  readonly #recent = new Map<string, { hasTargets: Promise<boolean | undefined>; again: boolean }>()

  constructor(
    private readonly hub: Pick<HubRequests, 'request'>,
    private readonly counters: Pick<ServerCounters, 'notifies'>,
  ) {}

  /** Yields the response, or nothing if the sender is rate-limited. */
  async *answer({ zone, peer, emptyAnswer }: NotifyRequest): AsyncGenerator<Uint8Array, void> {
    const pending = this.#isLimited(peer) ? null : this.#hasTargets(lowerName(zone))
    if (!pending) return this.#dropped()
    const hasTargets = await pending
    increment(this.counters.notifies, hasTargets === undefined ? 'failed' : hasTargets ? 'accepted' : 'refused')
    yield emptyAnswer(hasTargets === undefined ? RCODE.SERVFAIL : hasTargets ? RCODE.NOERROR : RCODE.NOTAUTH)
  }

  /** Shared keys with this name for a zone; null if rate-limited. */
  async keysOf({ zone, key, peer }: { zone: string; key: string; peer: string }): Promise<TsigKey[] | null> {
    if (this.#isLimited(peer) || !this.#mayRequest()) {
      this.#dropped()
      return null
    }
    return (await this.hub.request({ kind: 'notify_keys', zone, key })) ?? []
  }

  /** Returns whether the zone has sync targets. Repeated messages share the result, and cause one more request after a delay. */
  #hasTargets(zone: string): Promise<boolean | undefined> | null {
    const recent = this.#recent.get(zone)
    if (recent) {
      recent.again = true
      return recent.hasTargets
    }
    if (!this.#mayRequest()) return null
    const one = { hasTargets: this.hub.request({ kind: 'notified', zone }), again: false }
    this.#recent.set(zone, one)
    setTimeout(() => {
      this.#recent.delete(zone)
      if (one.again) void this.#hasTargets(zone)
    }, mergeMs)
    return one.hasTargets
  }

  #isLimited(peer: string): boolean {
    return this.#limit.take(networkOf(peer) ?? LOOPBACK, performance.now()) !== 'send'
  }

  #mayRequest(): boolean {
    return this.#requests.take(ALL_SENDERS, performance.now()) === 'send'
  }

  #dropped(): void {
    increment(this.counters.notifies, 'dropped')
  }
}
