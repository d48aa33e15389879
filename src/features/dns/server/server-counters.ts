import { rcodeName } from '../../../dns/message'
import type { Counts } from './messages'

/** Counters of the name server. Cheap enough for every query. */
export class ServerCounters {
  udp = 0
  tcp = 0
  /** Messages that get no response: shorter than a header, or responses themselves. */
  ignored = 0
  truncated = 0
  dropped = 0
  /** Responses by RCODE. */
  readonly rcodes = new Uint32Array(24)
  /** Finished transfers by outcome. */
  transfers: Record<string, number> = {}
  /** Received NOTIFY messages by outcome. */
  notifies: Record<string, number> = {}

  /** Returns and resets the counts; null if nothing was counters. */
  flush(): Counts | null {
    const others = Object.keys(this.transfers).length + Object.keys(this.notifies).length
    if (this.udp + this.tcp + others === 0) return null
    const answers: Record<string, number> = {}
    for (const [rcode, n] of this.rcodes.entries()) if (n > 0) answers[rcodeName(rcode)] = n
    const counts = {
      queries: { udp: this.udp, tcp: this.tcp },
      answers,
      limited: { truncated: this.truncated, dropped: this.dropped, ignored: this.ignored },
      transfers: this.transfers,
      notifies: this.notifies,
    }
    this.udp = this.tcp = this.ignored = this.truncated = this.dropped = 0
    this.rcodes.fill(0)
    this.transfers = {}
    this.notifies = {}
    return counts
  }
}

/** Increments a counter by label. */
export function increment(figures: Record<string, number>, kind: string): void {
  figures[kind] = (figures[kind] ?? 0) + 1
}
