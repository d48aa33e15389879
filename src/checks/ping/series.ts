import type { Family } from './echo'

/** Echo requests to one address. */
export interface PingSeries {
  /** Vetted. */
  address: string
  family: Family
  count: number
  /** Milliseconds between two requests. */
  intervalMs: number
  /** Payload bytes of each request, at least {@link minDataBytes}. */
  size: number
  /** Forbids fragmentation. */
  dontFragment: boolean
  /** Milliseconds to wait for replies after the last request. */
  replyTimeoutMs: number
}

/** The result of a series. */
export interface PingReport {
  sent: number
  /** Round-trip times in milliseconds, in the order the replies arrived. */
  times: number[]
  /** Name of the last errno(3), such as `EHOSTUNREACH`; null if there was none. */
  error: string | null
}

/** Random bytes in each request, so that replies can't be forged. */
export const minDataBytes = 8

/** A way to send pings. `run` returns what it has as soon as the signal aborts. */
export interface PingMethod {
  name: 'ping_socket' | 'raw_socket' | 'ping_command'
  run(series: PingSeries, signal: AbortSignal): Promise<PingReport>
}
