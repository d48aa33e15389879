/** A job to run after its change is committed. */
export interface JobDraft {
  kind: string
  payload: Record<string, unknown>
  /** Milliseconds UTC; defaults to now. */
  runAt?: number
  priority?: number
  /** Required for kinds with lane rules, and not allowed for others: such jobs are never claimed, and the log reports them. */
  lane?: string
  /** If a job with the same kind and key is waiting, the new one is not added. */
  uniqueKey?: string
  /** With `uniqueKey`: a waiting job with that key gets the lane, time, priority and payload of this one. */
  replaces?: boolean
  /**
   * With `replaces`: of the drafts of one change, the earliest time is kept. Only for jobs that schedule themselves again if they run
   * early.
   */
  earliest?: boolean
}
