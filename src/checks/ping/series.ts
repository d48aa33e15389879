import type { Family } from './echo'

/** Echo requests to one address. */
export interface PingSeries {
  /** Vetted. */
  address: string
  family: Family
  count: number
  /** Milliseconds between two. */
  gapMs: number
  /** Octets of data in each, at least {@link leastData}. */
  size: number
  /** Whether routers may not cut them into fragments. */
  dontFragment: boolean
  /** Milliseconds for which the answer to the last is waited for. */
  answerWithinMs: number
}

/** What came of them. */
export interface PingReport {
  sent: number
  /** Milliseconds from each request to its answer, in the order of the answers. */
  times: number[]
  /** Name of the last errno(3) that one ended with: `EHOSTUNREACH`; null when there was none. */
  error: string | null
}

/** Echo requests carry this much that nobody else knows, so that no answer can be made up. */
export const leastData = 8

/** A way to send them. It ends at once when the signal aborts, with what has come. */
export interface PingWay {
  by: 'ping_socket' | 'raw_socket' | 'ping_command'
  run(series: PingSeries, signal: AbortSignal): Promise<PingReport>
}
