import type { CheckResult, CheckSpec } from './check'

/** What an engine is told. A remote probe will get the same over its connection. */
export type ToEngine =
  /** `full`: these are all monitors; else what is not named stays as it is. */
  | { kind: 'configure'; full: boolean; upsert: CheckSpec[]; remove: string[] }
  /** Run these now, beside their schedule; the results carry the nonce. */
  | { kind: 'run_now'; monitors: string[]; nonce: string }
  /** Sockets that no check may reach: those of the hub itself. */
  | { kind: 'own_listeners'; listeners: { address: string; port: number }[] }
  | { kind: 'stop' }

export type FromEngine =
  /** `problem`: why ICMP, or another part, cannot be used here; people are shown it. */
  | { kind: 'ready'; capabilities: EngineCapabilities }
  /** Collected for up to a quarter of a second; one that is not `up`, or was asked for, goes at once. */
  | { kind: 'results'; results: CheckResult[] }
  /** Each second, and at once when `impaired` changes: before the results that it is about. */
  | { kind: 'pulse'; pulse: EnginePulse }

export interface EngineCapabilities {
  icmp: { by: 'ping_socket' | 'raw_socket' | 'ping_command' | 'none'; problem: string | null }
  /** Checks in flight at most, by the limit of open files. */
  most_in_flight: number
}

/** How an engine is. Counts are since its start. */
export interface EnginePulse {
  monitors: number
  in_flight: number
  runs: number
  /** Turns that were left out since the run before had not ended, the machine slept, or too much was in flight. */
  skipped: number
  /** Milliseconds from due to begun, over the last minute. */
  lag_p50_ms: number
  lag_p99_ms: number
  /** The longest time that the engine's loop stood still, over the last minute. */
  block_ms: number
  /** Looked up names: of the cache, asked for, and failed. */
  resolver: { hits: number; misses: number; failures: number }
  /** Why the results of this location are not to be trusted now; null when they are. Its results do not vote meanwhile. */
  impaired: string | null
}
