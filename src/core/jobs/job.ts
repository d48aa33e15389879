import type { Recorded } from '../change'
import type { Tx } from '../db/transaction'
import type { Hub } from '../hub'
import type { LaneRules } from './lanes'

/** A job that this process holds under a lease. */
export interface ClaimedJob<P = Record<string, unknown>> {
  id: string
  kind: string
  lane: string
  priority: number
  payload: P
  /** Counts this run, so the first run sees 1. */
  attempts: number
  /** When the lease ends (ms UTC). It tells this run from a later one of the same job in the same process. */
  lockedUntil: number
}

/**
 * What a job writes down when it is done. It runs in the transaction that also ends the job, so both happen or neither:
 * the result of a job is never recorded twice. `again` keeps the job for another run at that time (ms UTC).
 */
export type Finish = (tx: Tx) => Promise<Recorded<{ again?: number } | undefined>>

/** One kind of background work. Run twice it must do what one run does, since a process may die between work and record. */
export interface JobKind<P = Record<string, unknown>, M = unknown> {
  /** `<feature>.<verb>` */
  kind: string
  /** Runs of this kind that one process has under way at most. */
  concurrency: number
  /** How its lanes share these; a kind without rules has no lanes. */
  lanes?: LaneRules
  /** How long a run may take before others may take the job over; the run's own time limit must be shorter. */
  leaseMs: number
  /** Smaller is claimed first among the jobs of this kind; a draft may name its own. */
  priority?: number
  /** Milliseconds until the next run after failed run number `attempts` (1 is the first), or null to give up. */
  retryAfter(attempts: number): number | null
  /**
   * Reads and marks, for all jobs of a claim at once and in its transaction, what their runs need. Each run is given what is
   * under its job's id.
   */
  take?(tx: Tx, hub: Hub, jobs: readonly ClaimedJob<P>[]): Promise<ReadonlyMap<string, M>>
  /** Does the work. Outside calls belong here, writes into the returned step. Throwing asks for a retry. */
  run(hub: Hub, job: ClaimedJob<P>, taken: M | undefined): Promise<Finish | undefined>
}
