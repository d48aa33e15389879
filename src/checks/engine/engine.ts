import type { Timer } from '../../core/clock'
import { isTurnOver, yieldToEventLoop } from '../../core/time-slices'
import { noFacts, type CheckResult, type CheckSpec, type CheckType, type Facts } from '../check'
import type { EnginePulse, FromEngine, ToEngine } from '../messages'
import { nextConfirmation } from '../confirmation'
import { ScheduledCheck } from './scheduled-check'
import type { EngineClock } from './clock'
import type { CurrentCheck } from './current-check'
import { evidenceOf, redactedEvaluation } from './evidence'
import { Outbox } from './outbox'
import { CheckResolver, type ResolverDependencies } from './resolver'
import { RollingHistogram } from './rolling-histogram'
import { CheckRunner } from './check-runner'
import { Schedule } from './schedule'

/** What an engine depends on; replaced in tests. */
export interface EngineDependencies {
  clock: EngineClock
  names: ResolverDependencies
  typeOf(name: string): CheckType | undefined
  /** Whether this machine has a default route; null if unknown. */
  defaultRoute(): boolean | null
  maxInFlight: number
  current: CurrentCheck
  emit(message: FromEngine): void
}

// How often the engine looks for due checks and measures event loop stalls.
const wakeMs = 25
// Without monitors it only sends its pulse.
const idleWakeMs = 1000
const pulseMs = 1000
// A quick restart is over by then, so that nobody is notified.
const firstRetryMs = 2000
// Checks started in one turn of the event loop: responses are read in between.
const startBatchSize = 16
const maxRequestedRuns = 16
// A few unknown monitors were probably paused until now. Many probably come from another hub, and keep their schedule.
const maxResumed = 20

/** Runs checks when they are due and reports the results. Knows neither workspaces nor the database. */
export class Engine {
  readonly #clock: EngineClock
  readonly #resolver: CheckResolver
  readonly #runner: CheckRunner
  readonly #schedule: Schedule<ScheduledCheck>
  readonly #outbox: Outbox
  readonly #monitors = new Map<string, ScheduledCheck>()
  readonly #lag = new RollingHistogram()
  readonly #blocks = new RollingHistogram()
  /** Due, but not yet started. */
  #ready: ScheduledCheck[] = []
  /** Monitors with requested runs that wait for free capacity. */
  readonly #waiting = new Set<ScheduledCheck>()
  #starting: Timer | null = null
  #wake: Timer | null = null
  #wakeAt = 0
  #pulsedAt: number
  #inFlight = 0
  #runs = 0
  #skipped = 0
  #hadRoute = false
  #impaired: string | null = null

  constructor(private readonly dependencies: EngineDependencies) {
    this.#clock = dependencies.clock
    this.#resolver = new CheckResolver(dependencies.names)
    this.#runner = new CheckRunner(dependencies.clock, this.#resolver)
    this.#schedule = new Schedule(dependencies.clock)
    this.#outbox = new Outbox(dependencies.clock, results => dependencies.emit({ kind: 'results', results }))
    this.#pulsedAt = this.#clock.monotonic()
    this.#sleep()
  }

  /** Number of monitors. */
  get size(): number {
    return this.#monitors.size
  }

  handle(message: ToEngine): void {
    switch (message.kind) {
      case 'configure':
        this.#configure(message)
        return
      case 'run_now':
        for (const id of message.monitors) this.#requestRun(this.#monitors.get(id), message.nonce)
        return
      case 'hub_listeners':
        this.#runner.hubListeners = message.listeners
        return
      case 'scan_tls':
        void this.#scanTls(message)
        return
      case 'end_scan':
        this.#runner.endScan(message.scan)
        return
      case 'stop':
        this.#stop()
    }
  }

  async #scanTls({ scan, request, policy }: ToEngine & { kind: 'scan_tls' }): Promise<void> {
    this.dependencies.emit({ kind: 'tls_scanned', scan, facts: await this.#runner.scanTls(scan, request, policy) })
  }

  #configure({ full, upsert, remove }: ToEngine & { kind: 'configure' }): void {
    const removed = new Set(remove)
    if (full) for (const id of this.#monitors.keys()) removed.add(id)
    for (const spec of upsert) removed.delete(spec.monitor)
    for (const id of removed) this.#drop(this.#monitors.get(id))
    const unknown = upsert.reduce((count, spec) => count + Number(!this.#monitors.has(spec.monitor)), 0)
    for (const spec of upsert) this.#put(spec, !full && unknown <= maxResumed)
    this.#wake?.cancel()
    this.#sleep()
  }

  /** @param resumed whether an unknown monitor did not run anywhere until now */
  #put(spec: CheckSpec, resumed: boolean): void {
    const before = this.#monitors.get(spec.monitor)
    if (before?.spec.revision === spec.revision && before.intervalMs === spec.interval_ms) {
      // The network policy of its workspace may have changed, or when its domain expires.
      before.spec = spec
      return
    }
    this.#drop(before)
    const checked = new ScheduledCheck(spec, this.dependencies.typeOf(spec.type))
    this.#monitors.set(spec.monitor, checked)
    if (before || resumed || spec.confirmed_status === 'new') this.#schedule.addImmediately(checked)
    else this.#schedule.add(checked)
  }

  #drop(checked: ScheduledCheck | undefined): void {
    if (!checked) return
    checked.removed = true
    this.#schedule.remove(checked)
    this.#waiting.delete(checked)
    this.#monitors.delete(checked.id)
  }

  #requestRun(checked: ScheduledCheck | undefined, nonce: string): void {
    if (!checked) return
    if (checked.requestedRuns.length < maxRequestedRuns) checked.requestedRuns.push(nonce)
    else this.#skipped++
    this.#startRequested(checked)
  }

  /** Starts a requested run if there is capacity. */
  #startRequested(checked: ScheduledCheck): void {
    if (checked.running || checked.requestedRuns.length === 0) return
    if (this.#inFlight >= this.dependencies.maxInFlight) {
      this.#waiting.add(checked)
      return
    }
    this.#waiting.delete(checked)
    this.#start(checked, this.#schedule.now, checked.requestedRuns.shift()!)
  }

  #sleep(): void {
    const period = this.#monitors.size > 0 ? wakeMs : idleWakeMs
    const ms = period - (this.#schedule.now % period)
    this.#wakeAt = this.#clock.monotonic() + ms
    this.#wake = this.#clock.after(ms, () => this.#tick())
  }

  #tick(): void {
    const now = this.#clock.monotonic()
    this.#blocks.add(Math.max(now - this.#wakeAt, 0))
    for (const checked of this.#schedule.due()) this.#ready.push(checked)
    this.#startReady()
    // Timers may fire up to a millisecond early.
    if (now - this.#pulsedAt >= pulseMs - 1) {
      // After the machine slept, do not catch up pulse by pulse.
      this.#pulsedAt = now - this.#pulsedAt >= 2 * pulseMs ? now : this.#pulsedAt + pulseMs
      void this.#resolver.recheckHealth()
      this.#updateImpaired()
      this.#pulse()
      this.#lag.advance()
      this.#blocks.advance()
    }
    this.#sleep()
  }

  #startReady(): void {
    this.#starting?.cancel()
    this.#starting = null
    for (const checked of this.#ready.splice(0, startBatchSize)) {
      if (checked.removed) continue
      if (checked.running || this.#inFlight >= this.dependencies.maxInFlight || !this.#schedule.isInTime(checked)) {
        this.#schedule.skip(checked)
      } else {
        this.#lag.add(Math.max(this.#schedule.now - checked.dueAt, 0))
        this.#start(checked, checked.dueAt, null)
      }
    }
    if (this.#ready.length > 0) this.#starting = this.#clock.after(0, () => this.#startReady())
  }

  #start(checked: ScheduledCheck, dueAt: number, nonce: string | null): void {
    const { spec, type } = checked
    const at = Math.round(this.#schedule.now)
    checked.running = true
    checked.startedAt = this.#clock.monotonic()
    this.#inFlight++
    this.#runs++
    this.#schedule.scheduleNext(checked)
    const { current } = this.dependencies
    const run = type ? current.run(checked.id, () => this.#runner.run(spec, type)) : Promise.resolve(unsupported(spec))
    void run.then(async facts => {
      // Starts due checks between evaluations that take long.
      while (isTurnOver()) await yieldToEventLoop()
      checked.running = false
      this.#inFlight--
      if (!checked.removed) current.run(checked.id, () => this.#finish(checked, facts, { nonce, at, due_at: Math.round(dueAt) }))
      for (const waiting of this.#waiting) {
        if (this.#inFlight >= this.dependencies.maxInFlight) break
        this.#startRequested(waiting)
      }
    })
  }

  #finish(checked: ScheduledCheck, facts: Facts, run: Pick<CheckResult, 'nonce' | 'at' | 'due_at'>): void {
    const evaluation = checked.evaluate(facts, {
      now: this.#clock.now(),
      redact: (text, max) => checked.redactor()(text, max),
      domainExpiresAt: checked.spec.domain_expires_at,
    })
    const isUp = evaluation.status === 'up'
    // Report an impaired location before the result, which then does not vote.
    this.#updateImpaired()
    const before = checked.confirmation
    if (this.#impaired === null) this.#confirm(checked, evaluation.status !== 'down')
    const redact = isUp ? null : checked.redactor()
    const result: CheckResult = {
      monitor: checked.id,
      revision: checked.spec.revision,
      ...run,
      ...(redact ? redactedEvaluation(evaluation, redact) : evaluation),
      code: facts.status,
      phases: facts.phases,
      address: facts.address,
      certificate: facts.tls?.certificate ?? null,
      evidence: redact && evidenceOf(facts, redact),
    }
    this.#outbox.add(result, !isUp || run.nonce !== null || before.status !== 'up')
    this.#startRequested(checked)
  }

  /** Schedules retries while the status is unconfirmed: soon after the first contradicting result, then at the retry interval. */
  #confirm(checked: ScheduledCheck, ok: boolean): void {
    const before = checked.confirmation
    checked.confirmation = nextConfirmation(before, ok, checked.spec)
    if (checked.confirmation.contradictions === 0) return
    const pace = Math.min(checked.spec.retry_interval_ms, checked.intervalMs)
    this.#schedule.scheduleRetry(checked, before.contradictions === 0 ? Math.min(firstRetryMs, pace) : pace)
  }

  #updateImpaired(): void {
    const route = this.dependencies.defaultRoute()
    if (route) this.#hadRoute = true
    const lost = route === false && this.#hadRoute ? 'This machine has lost its route to other networks.' : null
    const reason = lost ?? (this.#resolver.isImpaired ? this.#resolver.health.problem : null)
    if (reason === this.#impaired) return
    // Results from before the change are sent before it.
    this.#outbox.flush()
    this.#impaired = reason
    this.#pulse()
  }

  #pulse(): void {
    const pulse: EnginePulse = {
      monitors: this.#monitors.size,
      in_flight: this.#inFlight,
      runs: this.#runs,
      skipped: this.#skipped + this.#schedule.skipped,
      lag_p50_ms: this.#lag.percentile(0.5),
      lag_p99_ms: this.#lag.percentile(0.99),
      block_ms: this.#blocks.max,
      resolver: { ...this.#resolver.counts },
      impaired: this.#impaired,
    }
    this.dependencies.emit({ kind: 'pulse', pulse })
  }

  #stop(): void {
    this.#wake?.cancel()
    this.#starting?.cancel()
    this.#ready = []
    this.#runner.stop()
    for (const checked of this.#monitors.values()) this.#drop(checked)
    this.#outbox.flush()
  }
}

function unsupported({ type }: CheckSpec): Facts {
  return { ...noFacts(), error: { kind: 'unsupported', message: `This location does not support checks of type ${type}.` } }
}
