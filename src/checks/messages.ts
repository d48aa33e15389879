import type { NetworkPolicy } from '../core/net/egress'
import type { Listener } from '../core/net/own-listeners'
import type { CheckResult, CheckSpec } from './check'
import type { HostFacts, HostScanRequest } from './tls-probe/host-scan'

/** Messages to an engine. A remote probe will receive the same over its connection. */
export type ToEngine =
  /** `full`: `upsert` lists all monitors; otherwise monitors that are not mentioned stay unchanged. */
  | { kind: 'configure'; full: boolean; upsert: CheckSpec[]; remove: string[] }
  /** Run these now, in addition to their schedule; the results carry the nonce. */
  | { kind: 'run_now'; monitors: string[]; nonce: string }
  /** Sockets of the hub itself, which no check may reach, except with a DNS query to its name server. */
  | { kind: 'hub_listeners'; listeners: Listener[] }
  /** Scan the TLS of a host. The answer carries the number of the scan. */
  | { kind: 'scan_tls'; scan: number; request: HostScanRequest; policy: NetworkPolicy }
  /** End a scan early. Nobody waits for its answer. */
  | { kind: 'end_scan'; scan: number }
  | { kind: 'stop' }

const maxSentAtOnce = 500

/**
 * Divides monitors to send to an engine. Sending thousands at once would block the sender. The parts are of equal size, because an engine
 * runs a few new monitors at once, but many on schedule.
 */
export function* partsToSend<T>(all: readonly T[]): Generator<T[]> {
  const size = Math.ceil(all.length / Math.max(1, Math.ceil(all.length / maxSentAtOnce)))
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}

export type FromEngine =
  /** `problem`: why ICMP is unavailable or slow, for people. */
  | { kind: 'ready'; capabilities: EngineCapabilities }
  /** Batched for up to 250 ms. Results that are not `up` and results of requested runs are sent at once. */
  | { kind: 'results'; results: CheckResult[] }
  | { kind: 'tls_scanned'; scan: number; facts: HostFacts }
  /** A check blocked the engine repeatedly. It no longer runs until its monitor is changed. */
  | { kind: 'quarantined'; monitor: string; revision: number }
  /** Sent every second, and at once when `impaired` changes, before the results it affects. */
  | { kind: 'pulse'; pulse: EnginePulse }

export interface EngineCapabilities {
  icmp: { method: 'ping_socket' | 'raw_socket' | 'ping_command' | 'none'; problem: string | null }
  /** Maximum number of concurrent checks, derived from the open file limit. */
  max_in_flight: number
}

/** Health of an engine. Counters start with the engine. */
export interface EnginePulse {
  monitors: number
  in_flight: number
  runs: number
  /** Runs skipped because the previous one was still running, the machine slept, or too many checks were in flight. */
  skipped: number
  /** Milliseconds from due to started, over the last minute. */
  lag_p50_ms: number
  lag_p99_ms: number
  /** The longest event loop stall over the last minute. */
  block_ms: number
  /** DNS lookups: served from the cache, queried, and failed. */
  resolver: { hits: number; misses: number; failures: number }
  /** Why this location's results are unreliable; null if they are fine. Its results do not vote while this is set. */
  impaired: string | null
}
