import { record } from '../change'
import type { RecordResult } from '../change-result'
import type { Timer } from '../clock'
import { isUnavailable } from '../db/errors'
import type { Tx } from '../db/transaction'
import type { Hub } from '../hub'
import { dueJobs, lease } from './claim'
import { Together, type ClaimedJob, type JobKind } from './job'
import { LaneCapacity } from './lanes'
import { claimFromLanes, type LaneClaim } from './lane-claim'
import { loopBlocks } from '../loop-blocks'
import { yieldToEventLoop } from '../time-slices'
import { UnclaimableJobs } from './unclaimable'
import { finish, finishAll, requeue, markFailed, nextRunAt, releaseUnknown } from './queue'

const maxClaimSize = 100
// At capacity, several finished runs share one claim.
const pauseAtCapacityMs = 8
// Another hub has locked the rows; it needs less than this, unless it is dead.
const pauseWhenContendedMs = 50

const outageRetryMs = 1_000

/** Result of polling a kind: when to poll again (ms UTC; Infinity for only when woken), and whether jobs are ready now. */
interface PollResult {
  at: number
  ready: boolean
}

interface Claimed {
  claim: LaneClaim
  jobs: ClaimedJob[]
  prepared: ReadonlyMap<string, unknown> | undefined
}

/** A run whose result waits to be recorded. */
interface Finished {
  job: ClaimedJob
  result: unknown
  recorded: PromiseWithResolvers<void>
}

/** The lease expired during the run, and another process may have claimed the job: the result must not be recorded. */
class LeaseLost extends Error {
  override name = 'LeaseLost'
}

/** Runs jobs in this process: claims due jobs within the concurrency limit of each kind, and records their results. */
export class Worker {
  private readonly running = new Map<string, Map<Promise<void>, ClaimedJob>>()
  /** The last served lane of each kind. */
  private readonly lastLanes = new Map<string, string>()
  /** Groups of each kind whose retries take precedence in the next round. */
  private readonly starvedGroups = new Map<string, Set<string>>()
  /** When each kind is polled again, in milliseconds of `performance.now`. */
  private readonly pausedUntil = new Map<string, number>()
  private readonly lastPolls = new Map<string, PollResult>()
  private readonly unclaimable: UnclaimableJobs
  private timer: Timer | null = null
  private timerAt = Infinity
  private polling: Promise<void> | null = null
  /** The kinds to poll, in addition to those whose next job is due. */
  private readonly waking = new Set<string>()
  /** The results of each kind that wait to be recorded together. */
  private readonly results = new Map<string, Finished[]>()
  private stopped = false
  /** A claim failed without it being known whether it was committed. */
  private claimIsUnknown = false
  private readonly unsubscribe: () => void

  constructor(
    private readonly hub: Hub,
    private readonly kinds: readonly JobKind[],
  ) {
    for (const { kind } of kinds) {
      this.running.set(kind, new Map())
      this.starvedGroups.set(kind, new Set())
    }
    this.unclaimable = new UnclaimableJobs(hub)
    this.unsubscribe = hub.jobSignal.on(woken => this.wake(woken))
  }

  /** Polls for due jobs. Can be called at any time. @param kinds defaults to all */
  wake(kinds: Iterable<string> = this.running.keys()): void {
    if (this.stopped) return
    for (const kind of kinds) if (this.running.has(kind)) this.waking.add(kind)
    if (this.polling || this.waking.size === 0) return
    this.polling = this.poll().finally(() => {
      this.polling = null
      // Requested after the last poll and before this line.
      this.wake([])
    })
  }

  /** Polls the kinds with a job that is due. Unlike the timer, notices that the clock was set. */
  wakeDue(): void {
    const now = this.hub.clock.now()
    this.wake([...this.lastPolls].flatMap(([kind, poll]) => (poll.at <= now ? kind : [])))
  }

  /** Stops claiming jobs and waits for running jobs, at most `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    this.stopped = true
    this.unsubscribe()
    this.timer?.cancel()
    await Promise.race([this.drained(), Bun.sleep(limitMs)])
  }

  /** Resolves when no jobs are ready and none are running. */
  async idle(): Promise<void> {
    for (;;) {
      this.wake()
      await this.drained()
      // Check again, because another poll may have started a job in the meantime.
      const busy = this.polling !== null || this.runningJobs().length > 0
      const now = this.hub.clock.now()
      if (!busy && ![...this.lastPolls.values()].some(poll => poll.ready || poll.at <= now)) return
      await Bun.sleep(1)
    }
  }

  /** Number of running jobs by kind. */
  counts(): Record<string, number> {
    return Object.fromEntries([...this.running].map(([kind, runs]) => [kind, runs.size]))
  }

  /** Waits for the current claim, which may start runs, and then for the runs. */
  private async drained(): Promise<void> {
    await this.polling
    await Promise.allSettled(this.runningJobs())
  }

  private runningJobs(): Promise<void>[] {
    return [...this.running.values()].flatMap(runs => [...runs.keys()])
  }

  private async poll(): Promise<void> {
    do {
      for (const kind of this.kinds) {
        if (!this.waking.delete(kind.kind)) continue
        try {
          if (this.claimIsUnknown) await this.releaseUnknown()
          this.lastPolls.set(kind.kind, await this.claimKind(kind))
        } catch (error) {
          // The database is unavailable or busy: retry on the next wake-up or timer.
          this.claimIsUnknown ||= isUnavailable(error)
          this.hub.log.error({ err: error, kind: kind.kind }, 'could not claim jobs')
          this.lastPolls.set(kind.kind, { at: this.hub.clock.now() + 1000, ready: true })
        }
      }
      this.sleepUntil(this.nextPollAt())
    } while (this.waking.size > 0 && !this.stopped)
  }

  private nextPollAt(): number {
    return Math.min(...[...this.lastPolls.values()].map(poll => poll.at))
  }

  private async releaseUnknown(): Promise<void> {
    const running = [...this.running.values()].flatMap(runs => [...runs.values()])
    const ids = running.map(job => job.id)
    await record(this.hub, async tx => ({ result: await releaseUnknown(tx, this.hub, ids) }))
    this.claimIsUnknown = false
  }

  /** Claims until the kind is at its limit or no jobs are ready. */
  private async claimKind(kind: JobKind): Promise<PollResult> {
    const runs = this.running.get(kind.kind)!
    const { clock } = this.hub
    for (;;) {
      // At the limit no timer is needed, because each finished run polls again.
      if (runs.size >= kind.concurrency || this.stopped) return { at: Infinity, ready: false }
      const pause = (this.pausedUntil.get(kind.kind) ?? 0) - performance.now()
      if (pause > 0) return { at: clock.now() + Math.ceil(pause), ready: true }
      const at = (await nextRunAt(this.hub.read, kind.kind)) ?? Infinity
      if (at > clock.now()) return { at, ready: false }
      await this.unclaimable.report(kind)
      const { claim, jobs, prepared } = await this.claimBatch(kind, Math.min(kind.concurrency - runs.size, maxClaimSize))
      for (const job of jobs) this.start(kind, job, prepared?.get(job.id))
      if (claim.atCapacity) this.pausedUntil.set(kind.kind, performance.now() + pauseAtCapacityMs)
      if (jobs.length > 0) continue
      if (claim.contended) return { at: clock.now() + pauseWhenContendedMs, ready: true }
      // The earlier of: end of a lane hold, and the next scheduled job of other lanes.
      return {
        at: Math.min(claim.heldUntil, (await nextRunAt(this.hub.read, kind.kind, clock.now())) ?? Infinity),
        ready: false,
      }
    }
  }

  private async claimBatch(kind: JobKind, limit: number): Promise<Claimed> {
    const { hub } = this
    return await record(hub, async tx => {
      const claim = await this.select(tx, kind, limit)
      const jobs = await lease(tx, hub, claim.ids, kind.leaseMs)
      this.lastLanes.set(kind.kind, claim.lastLane)
      return { result: { claim, jobs, prepared: jobs.length > 0 ? await kind.prepare?.(tx, hub, jobs) : undefined } }
    })
  }

  private async select(tx: Tx, kind: JobKind, limit: number): Promise<LaneClaim> {
    const { hub } = this
    if (!kind.lanes) {
      const ids = await dueJobs(tx, hub, kind.kind, limit)
      return { ids, lastLane: '', heldUntil: Infinity, contended: ids.length === 0, atCapacity: false }
    }
    return await claimFromLanes(tx, {
      hub,
      kind: kind.kind,
      rules: kind.lanes,
      capacity: new LaneCapacity(hub, kind.lanes, kind.concurrency, this.running.get(kind.kind)!.values()),
      now: hub.clock.now(),
      leaseMs: kind.leaseMs,
      limit,
      after: this.lastLanes.get(kind.kind) ?? '',
      starvedGroups: this.starvedGroups.get(kind.kind)!,
    })
  }

  private start(kind: JobKind, job: ClaimedJob, prepared: unknown): void {
    const runs = this.running.get(kind.kind)!
    const ended = loopBlocks.expectWorkUntilCalled()
    const run = this.runOne(kind, job, prepared)
      .catch(error => this.hub.log.error({ err: error, kind: job.kind, job: job.id }, 'could not record the result of a job'))
      .finally(() => {
        ended()
        runs.delete(run)
        this.wake([kind.kind])
      })
    runs.set(run, job)
  }

  private async runOne(kind: JobKind, job: ClaimedJob, prepared: unknown): Promise<void> {
    try {
      const write = await kind.run(this.hub, job, prepared)
      if (write instanceof Together) {
        await this.recordTogether(kind, job, write.result)
        return
      }
      await this.recordOutcome(job, async tx => {
        const done = write ? await write(tx) : { result: undefined }
        const isOurs =
          done.result?.again === undefined
            ? await finish(tx, this.hub, job)
            : await requeue(tx, this.hub, job, { runAt: done.result.again, attempts: 0 })
        if (!isOurs) throw new LeaseLost(`Job ${job.id} lost its lease.`)
        return done
      })
    } catch (error) {
      if (error instanceof LeaseLost) {
        this.hub.log.warn({ kind: job.kind, job: job.id }, error.message)
        return
      }
      await this.runFailed(kind, job, error)
    }
  }

  /** Resolves when the result is recorded. All results that wait during one transaction are recorded in the next. */
  private recordTogether(kind: JobKind, job: ClaimedJob, result: unknown): Promise<void> {
    const recorded = Promise.withResolvers<void>()
    const waiting = this.results.get(kind.kind)
    if (waiting) waiting.push({ job, result, recorded })
    else {
      this.results.set(kind.kind, [{ job, result, recorded }])
      void this.recordAll(kind)
    }
    return recorded.promise
  }

  private async recordAll(kind: JobKind): Promise<void> {
    const waiting = this.results.get(kind.kind)!
    while (waiting.length > 0) {
      // Let the results that arrive in the meantime join the batch.
      await yieldToEventLoop()
      const batch = waiting.splice(0, maxClaimSize)
      try {
        await this.finishBatch(kind, batch)
        for (const one of batch) one.recorded.resolve()
      } catch {
        for (const one of batch) await this.finishBatch(kind, [one]).then(one.recorded.resolve, one.recorded.reject)
      }
    }
    this.results.delete(kind.kind)
  }

  private finishBatch(kind: JobKind, batch: readonly Finished[]): Promise<void> {
    const jobs = batch.map(one => one.job)
    const results = batch.map(one => one.result)
    const lockedUntil = Math.min(...jobs.map(job => job.lockedUntil))
    return this.recordOutcome({ lockedUntil }, async tx => {
      const done = await kind.finishAll!(tx, this.hub, results)
      if (!(await finishAll(tx, this.hub, jobs))) throw new LeaseLost(`Job ${jobs[0]!.id} lost its lease.`)
      return done
    })
  }

  private async runFailed(kind: JobKind, job: ClaimedJob, error: unknown): Promise<void> {
    const lastError = String((error as Error)?.message ?? error).slice(0, 1000)
    if (isUnavailable(error)) {
      // Not the fault of the job, so it doesn't count as an attempt.
      const again = { runAt: this.hub.clock.now() + outageRetryMs, attempts: job.attempts - 1, lastError }
      await this.recordOutcome(job, async tx => ({ result: void (await requeue(tx, this.hub, job, again)) }))
      return
    }
    const pause = kind.retryAfter(job.attempts)
    this.hub.log.error({ err: error, kind: job.kind, job: job.id, attempts: job.attempts, retry_in_ms: pause }, 'a job failed')
    await this.recordOutcome(job, async tx => {
      if (pause === null) await markFailed(tx, this.hub, job, lastError)
      else await requeue(tx, this.hub, job, { runAt: this.hub.clock.now() + pause, lastError })
      return { result: undefined }
    })
  }

  /**
   * Records the outcome of a job. Retries during an outage of the database while the job is leased, so that the run doesn't have to
   * be repeated. If an earlier try was committed after all, the lease is gone.
   */
  private async recordOutcome(
    job: Pick<ClaimedJob, 'lockedUntil'>,
    write: (tx: Tx) => Promise<RecordResult<unknown>>,
  ): Promise<void> {
    for (;;) {
      try {
        await record(this.hub, write)
        return
      } catch (error) {
        if (!isUnavailable(error) || this.stopped || this.hub.clock.now() >= job.lockedUntil) throw error
        await Bun.sleep(outageRetryMs)
      }
    }
  }

  private sleepUntil(at: number): void {
    if (this.timer && at >= this.timerAt && this.timerAt > this.hub.clock.now()) return
    this.timer?.cancel()
    this.timer = null
    this.timerAt = at
    if (at === Infinity || this.stopped) return
    this.timer = this.hub.clock.after(at - this.hub.clock.now(), () => {
      this.timer = null
      this.timerAt = Infinity
      // An earlier poll may have moved the time that this timer was set for.
      if (this.nextPollAt() > this.hub.clock.now()) this.sleepUntil(this.nextPollAt())
      else this.wakeDue()
    })
  }
}
