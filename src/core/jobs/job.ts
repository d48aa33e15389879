import type { RecordResult } from '../change-result'
import type { Tx } from '../db/transaction'
import type { Hub } from '../hub'
import type { LaneRules } from './lanes'

/** A job leased by this process. */
export interface ClaimedJob<P = Record<string, unknown>> {
  id: string
  kind: string
  lane: string
  priority: number
  payload: P
  /** Includes this run: 1 for the first run. Runs whose process died are not counted. */
  attempts: number
  /** When the lease expires (ms UTC). Distinguishes this run from a later one of the same job in this process. */
  lockedUntil: number
}

/**
 * Records the result of a job in the transaction that also removes the job, so that the result is recorded exactly once. `again`
 * reschedules the job for that time (ms UTC) instead.
 */
export type Finish = (tx: Tx) => Promise<RecordResult<{ again?: number } | undefined>>

/** The result of a run that is recorded together with those of other runs, by `JobKind.finishAll`. */
export class Together<R> {
  constructor(readonly result: R) {}
}

/** A kind of background job. Runs must be idempotent: a process may crash before it records the result. */
export interface JobKind<P = Record<string, unknown>, M = unknown, R = unknown> {
  /** `<feature>.<verb>` */
  kind: string
  /** Maximum number of concurrent runs per process. */
  concurrency: number
  /** How lanes share the concurrency. Kinds without rules have no lanes. */
  lanes?: LaneRules
  /** After this time other processes may claim the job. The timeout of a run must be shorter. */
  leaseMs: number
  /** Default priority of jobs of this kind. Lower values are claimed first. */
  priority?: number
  /** Milliseconds until the next run after failed run number `attempts` (starting at 1); null to fail permanently. */
  retryAfter(attempts: number): number | null
  /**
   * Prepares the data that runs need, for all claimed jobs at once and in the transaction of the claim. Returns it by job id.
   */
  prepare?(tx: Tx, hub: Hub, jobs: readonly ClaimedJob<P>[]): Promise<ReadonlyMap<string, M>>
  /** Runs the job. External calls belong here, database writes into the returned function. Throw to retry. */
  run(hub: Hub, job: ClaimedJob<P>, prepared: M | undefined): Promise<Finish | Together<R> | undefined>
  /**
   * Records the results of several runs in one transaction, which also removes their jobs. If it throws, each result is recorded
   * separately.
   */
  finishAll?(tx: Tx, hub: Hub, results: readonly R[]): Promise<RecordResult<undefined>>
}
