import { rcodeName } from '../../../core/dns/message'
import type { Counts } from './messages'

/** Counts what the name server does, with no more cost than adding one. */
export class Counted {
  udp = 0
  tcp = 0
  /** Messages that got no answer: shorter than a header, or answers themselves. */
  ignored = 0
  truncated = 0
  dropped = 0
  /** Answers by rcode. */
  readonly rcodes = new Uint32Array(24)
  /** Ends of transfers, by what came of them. */
  transfers: Record<string, number> = {}
  /** What became of NOTIFY messages that came in. */
  notifies: Record<string, number> = {}

  /** What was counted since the last time, or null when that is nothing. */
  taken(): Counts | null {
    const others = Object.keys(this.transfers).length + Object.keys(this.notifies).length
    if (this.udp + this.tcp + others === 0) return null
    const answers: Record<string, number> = {}
    for (const [rcode, n] of this.rcodes.entries()) if (n > 0) answers[rcodeName(rcode)] = n
    const counts = {
      queries: { udp: this.udp, tcp: this.tcp },
      answers,
      held: { truncated: this.truncated, dropped: this.dropped, ignored: this.ignored },
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

/** Adds one to a figure by kind. */
export function countUp(figures: Record<string, number>, kind: string): void {
  figures[kind] = (figures[kind] ?? 0) + 1
}
