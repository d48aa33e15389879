import { record } from '../change'
import type { Timer } from '../clock'
import type { Tx } from '../db/transaction'
import type { Hub } from '../hub'
import { dueJobs, lease } from './claim'
import type { ClaimedJob, JobKind } from './job'
import { LaneRoom } from './lanes'
import { takeTurns, type Turns } from './lane-turns'
import { Untakeable } from './untakeable'
import { finish, giveBack, giveUp, nextRunAt } from './queue'

const largestClaim = 100
// Where more is due than may run, the ends of several runs share one look.
const pauseWhenCrowdedMs = 8
// Another hub holds the rows just now: it is quicker than this, or dead.
const pauseBesideOthersMs = 50

/** What a look at a kind found: when to look again (ms UTC, Infinity for never by itself), and whether something could be taken now. */
interface Look {
  at: number
  pressing: boolean
}

interface Claimed {
  turns: Turns
  jobs: ClaimedJob[]
  taken: ReadonlyMap<string, unknown> | undefined
}

/** The lease ran out while the job ran, and another process may have it: what this run found out is not written. */
class LeaseLost extends Error {
  override name = 'LeaseLost'
}

/** Runs the jobs of one process: claims what is due, keeps to each kind's limit, records the end of each run. */
export class Worker {
  private readonly running = new Map<string, Map<Promise<void>, ClaimedJob>>()
  /** The lane of each kind that was served last. */
  private readonly lastLanes = new Map<string, string>()
  /** Groups of each kind whose later runs are to have the next turn. */
  private readonly owed = new Map<string, Set<string>>()
  /** When each kind is looked at again, in milliseconds of `performance.now`. */
  private readonly pausedUntil = new Map<string, number>()
  private readonly lastLooks = new Map<string, Look>()
  private readonly untakeable: Untakeable
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
    for (const { kind } of kinds) {
      this.running.set(kind, new Map())
      this.owed.set(kind, new Set())
    }
    this.untakeable = new Untakeable(hub)
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

  /** Resolves when nothing can be taken now and nothing runs: how tests wait, and how a stop drains. */
  async idle(): Promise<void> {
    for (;;) {
      this.wake()
      await this.drained()
      // Looked at again, since a look may have followed in which a job was claimed and started.
      const busy = this.looking !== null || this.underWay().length > 0
      const now = this.hub.clock.now()
      if (!busy && ![...this.lastLooks.values()].some(look => look.pressing || look.at <= now)) return
      await Bun.sleep(1)
    }
  }

  /** Runs under way, by kind. */
  counts(): Record<string, number> {
    return Object.fromEntries([...this.running].map(([kind, runs]) => [kind, runs.size]))
  }

  /** Waits for the claim under way, which may start runs, and then for the runs. */
  private async drained(): Promise<void> {
    await this.looking
    await Promise.allSettled(this.underWay())
  }

  private underWay(): Promise<void>[] {
    return [...this.running.values()].flatMap(runs => [...runs.keys()])
  }

  private async look(): Promise<void> {
    do {
      this.lookAgain = false
      let next = Infinity
      for (const kind of this.kinds) {
        try {
          const look = await this.claimKind(kind)
          this.lastLooks.set(kind.kind, look)
          next = Math.min(next, look.at)
        } catch (error) {
          // The database is out of reach or busy: the next wake-up, or this timer, tries again.
          this.hub.log.error({ err: error, kind: kind.kind }, 'jobs could not be claimed')
          this.lastLooks.set(kind.kind, { at: this.hub.clock.now() + 1000, pressing: true })
          next = Math.min(next, this.hub.clock.now() + 1000)
        }
      }
      this.sleepUntil(next)
    } while (this.lookAgain && !this.stopped)
  }

  /** Claims until the kind is at its limit or nothing can be taken. */
  private async claimKind(kind: JobKind): Promise<Look> {
    const runs = this.running.get(kind.kind)!
    const { clock } = this.hub
    for (;;) {
      // The end of a run looks again, so a full kind needs no timer.
      if (runs.size >= kind.concurrency || this.stopped) return { at: Infinity, pressing: false }
      const pause = (this.pausedUntil.get(kind.kind) ?? 0) - performance.now()
      if (pause > 0) return { at: clock.now() + Math.ceil(pause), pressing: true }
      const at = (await nextRunAt(this.hub.read, kind.kind)) ?? Infinity
      if (at > clock.now()) return { at, pressing: false }
      await this.untakeable.report(kind)
      const { turns, jobs, taken } = await this.claimSome(kind, Math.min(kind.concurrency - runs.size, largestClaim))
      for (const job of jobs) this.start(kind, job, taken?.get(job.id))
      if (turns.crowded) this.pausedUntil.set(kind.kind, performance.now() + pauseWhenCrowdedMs)
      if (jobs.length > 0) continue
      if (turns.contended) return { at: clock.now() + pauseBesideOthersMs, pressing: true }
      // What is held has its time; what waits for later in other lanes has another.
      return {
        at: Math.min(turns.heldUntil, (await nextRunAt(this.hub.read, kind.kind, clock.now())) ?? Infinity),
        pressing: false,
      }
    }
  }

  private async claimSome(kind: JobKind, limit: number): Promise<Claimed> {
    const { hub } = this
    return await record(hub, async tx => {
      const turns = await this.choose(tx, kind, limit)
      const jobs = await lease(tx, hub, turns.ids, kind.leaseMs)
      this.lastLanes.set(kind.kind, turns.lastLane)
      return { result: { turns, jobs, taken: jobs.length > 0 ? await kind.take?.(tx, hub, jobs) : undefined } }
    })
  }

  private async choose(tx: Tx, kind: JobKind, limit: number): Promise<Turns> {
    const { hub } = this
    if (!kind.lanes) {
      const ids = await dueJobs(tx, hub, kind.kind, limit)
      return { ids, lastLane: '', heldUntil: Infinity, contended: ids.length === 0, crowded: false }
    }
    return await takeTurns(tx, {
      hub,
      kind: kind.kind,
      rules: kind.lanes,
      room: new LaneRoom(hub, kind.lanes, kind.concurrency, this.running.get(kind.kind)!.values()),
      now: hub.clock.now(),
      leaseMs: kind.leaseMs,
      limit,
      after: this.lastLanes.get(kind.kind) ?? '',
      owed: this.owed.get(kind.kind)!,
    })
  }

  private start(kind: JobKind, job: ClaimedJob, taken: unknown): void {
    const runs = this.running.get(kind.kind)!
    const run = this.runOne(kind, job, taken)
      .catch(error => this.hub.log.error({ err: error, kind: job.kind, job: job.id }, 'the end of a job was not recorded'))
      .finally(() => {
        runs.delete(run)
        this.wake()
      })
    runs.set(run, job)
  }

  private async runOne(kind: JobKind, job: ClaimedJob, taken: unknown): Promise<void> {
    try {
      const write = await kind.run(this.hub, job, taken)
      await record(this.hub, async tx => {
        const done = write ? await write(tx) : { result: undefined }
        const kept =
          done.result?.again === undefined
            ? await finish(tx, this.hub, job)
            : await giveBack(tx, this.hub, job, { runAt: done.result.again, attempts: 0 })
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
      if (pause === null) await giveUp(tx, this.hub, job, text)
      else await giveBack(tx, this.hub, job, { runAt: this.hub.clock.now() + pause, lastError: text })
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
