import { record } from '../change'
import type { Timer } from '../clock'
import type { Hub } from '../hub'
import { claim } from './claim'
import type { ClaimedJob, JobKind } from './job'
import { finish, giveBack, giveUp, nextRunAt } from './queue'

const largestClaim = 100
// Passing over what waits in full lanes costs time at each look, so it is not done at the end of every run.
const pauseBesideFullMs = 10

/** The lease ran out while the job ran, and another process may have it: what this run found out is not written. */
class LeaseLost extends Error {
  override name = 'LeaseLost'
}

/** Runs the jobs of one process: claims what is due, keeps to each kind's limit, records the end of each run. */
export class Worker {
  private readonly running = new Map<string, Set<Promise<void>>>()
  /** Runs under way by kind and lane, for the kinds that limit them. */
  private readonly lanes = new Map<string, Map<string, number>>()
  /** When each kind is looked at again, in milliseconds of `performance.now`. */
  private readonly pausedUntil = new Map<string, number>()
  private timer: Timer | null = null
  private timerAt = Infinity
  private looking: Promise<void> | null = null
  private lookAgain = false
  private stopped = false
  private readonly off: () => void

  constructor(
    private readonly hub: Hub,
    private readonly kinds: readonly JobKind[],
  ) {
    for (const kind of kinds) {
      this.running.set(kind.kind, new Set())
      this.lanes.set(kind.kind, new Map())
    }
    this.off = hub.jobSignal.on(() => this.wake())
  }

  /** Looks for due jobs now. Safe to call at any time and any number of times. */
  wake(): void {
    if (this.stopped) return
    if (this.looking) {
      this.lookAgain = true
      return
    }
    this.looking = this.look().finally(() => {
      this.looking = null
      // Asked for after the last look had ended and before this line.
      if (this.lookAgain) this.wake()
    })
  }

  /** Claims nothing more and waits until the runs under way have ended, at most `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    this.stopped = true
    this.off()
    this.timer?.cancel()
    await Promise.race([this.drained(), Bun.sleep(limitMs)])
  }

  /** Resolves when nothing is due and nothing runs: how tests wait, and how a stop drains. */
  async idle(): Promise<void> {
    for (;;) {
      await this.drained()
      const now = this.hub.clock.now()
      const next = await Promise.all(this.kinds.map(kind => nextRunAt(this.hub.read, kind.kind)))
      // Looked at again, since a job may have been claimed and started while the question was answered.
      const busy = this.looking !== null || this.underWay().length > 0
      if (!busy && !next.some(at => at !== null && at <= now)) return
      this.wake()
      await Bun.sleep(1)
    }
  }

  /** Runs under way, by kind. */
  counts(): Record<string, number> {
    return Object.fromEntries([...this.running].map(([kind, set]) => [kind, set.size]))
  }

  /** Waits for the claim under way, which may start runs, and then for the runs. */
  private async drained(): Promise<void> {
    await this.looking
    await Promise.allSettled(this.underWay())
  }

  private underWay(): Promise<void>[] {
    return [...this.running.values()].flatMap(set => [...set])
  }

  private async look(): Promise<void> {
    do {
      this.lookAgain = false
      let next = Infinity
      for (const kind of this.kinds) {
        try {
          next = Math.min(next, await this.claimKind(kind))
        } catch (error) {
          // The database is out of reach or busy: the next wake-up, or this timer, tries again.
          this.hub.log.error({ err: error, kind: kind.kind }, 'jobs could not be claimed')
          next = Math.min(next, this.hub.clock.now() + 1000)
        }
      }
      this.sleepUntil(next)
    } while (this.lookAgain && !this.stopped)
  }

  /** Claims until the kind is at its limit or nothing is due; returns when it wants to be looked at again. */
  private async claimKind(kind: JobKind): Promise<number> {
    const under = this.running.get(kind.kind)!
    const lanes = this.lanes.get(kind.kind)!
    for (;;) {
      const free = kind.concurrency - under.size
      // The end of a run looks again, so a full kind needs no timer.
      if (free <= 0 || this.stopped) return Infinity
      const pause = (this.pausedUntil.get(kind.kind) ?? 0) - performance.now()
      if (pause > 0) return this.hub.clock.now() + Math.ceil(pause)
      const at = await nextRunAt(this.hub.read, kind.kind)
      if (at === null) return Infinity
      if (at > this.hub.clock.now()) return at
      const limit = Math.min(free, largestClaim)
      const claimed = await record(this.hub, async tx => ({
        result: await claim(
          tx,
          this.hub,
          kind.kind,
          kind.leaseMs,
          limit,
          kind.laneConcurrency === undefined ? null : { underWay: lanes, most: kind.laneConcurrency },
        ),
      }))
      if (kind.laneConcurrency !== undefined && claimed.length < limit) {
        this.pausedUntil.set(kind.kind, performance.now() + pauseBesideFullMs)
      }
      // Another hub was quicker, or holds the rows just now; or only full lanes have something due.
      if (claimed.length === 0) return this.hub.clock.now() + 50
      for (const job of claimed) this.start(kind, job)
    }
  }

  private start(kind: JobKind, job: ClaimedJob): void {
    const under = this.running.get(kind.kind)!
    const lanes = this.lanes.get(kind.kind)!
    lanes.set(job.lane, (lanes.get(job.lane) ?? 0) + 1)
    const run = this.runOne(kind, job)
      .catch(error => this.hub.log.error({ err: error, kind: job.kind, job: job.id }, 'the end of a job was not recorded'))
      .finally(() => {
        under.delete(run)
        const left = lanes.get(job.lane)! - 1
        if (left > 0) lanes.set(job.lane, left)
        else lanes.delete(job.lane)
        this.wake()
      })
    under.add(run)
  }

  private async runOne(kind: JobKind, job: ClaimedJob): Promise<void> {
    try {
      const write = await kind.run(this.hub, job)
      await record(this.hub, async tx => {
        const done = write ? await write(tx) : { result: undefined }
        const kept =
          done.result?.again === undefined
            ? await finish(tx, this.hub, job.id)
            : await giveBack(tx, this.hub, job.id, { runAt: done.result.again, attempts: 0 })
        if (!kept) throw new LeaseLost(`The lease of job ${job.id} was lost.`)
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

  private async runFailed(kind: JobKind, job: ClaimedJob, error: unknown): Promise<void> {
    const text = String((error as Error)?.message ?? error).slice(0, 1000)
    const pause = kind.retryAfter(job.attempts)
    this.hub.log.error({ err: error, kind: job.kind, job: job.id, attempts: job.attempts, retry_in_ms: pause }, 'a job failed')
    await record(this.hub, async tx => {
      if (pause === null) await giveUp(tx, this.hub, job.id, text)
      else await giveBack(tx, this.hub, job.id, { runAt: this.hub.clock.now() + pause, lastError: text })
      return { result: undefined }
    })
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
      this.wake()
    })
  }
}
