import type { Timer } from '../../core/clock'
import { noFacts, type CheckResult, type CheckSpec, type CheckType, type Facts } from '../check'
import type { EnginePulse, FromEngine, ToEngine } from '../messages'
import { nextStreak } from '../streak'
import { Checked } from './checked'
import type { EngineClock } from './clock'
import { evidenceOf, hiddenIn } from './evidence'
import { Outbox } from './outbox'
import { CheckResolver, type ResolverGround } from './resolver'
import { RollingSpans } from './rolling-spans'
import { Network } from './run'
import { Schedule } from './schedule'

/** What an engine stands on; in tests all of it is made up. */
export interface EngineGround {
  clock: EngineClock
  names: ResolverGround
  typeOf(name: string): CheckType | undefined
  /** Whether there is a way to other networks; null where that cannot be told. */
  defaultRoute(): boolean | null
  mostInFlight: number
  tell(message: FromEngine): void
}

// How often the engine looks whose turn it is, and whether its loop stood still.
const wakeMs = 25
// Without monitors it has only its pulse to tell.
const idleWakeMs = 500
const pulseMs = 1000
// What is restarted is there again by then, and nobody need be told.
const secondLookMs = 2000
// Checks begun in one turn of the loop: what has come meanwhile is read between them.
const begunAtOnce = 16
const mostAsked = 16
// A few that come along were paused until now. More are a share of another hub, where they have had their turns.
const mostResumed = 20

/** Runs checks when they are due and tells what they find. It knows neither workspaces nor a database. */
export class Engine {
  readonly #clock: EngineClock
  readonly #resolver: CheckResolver
  readonly #network: Network
  readonly #schedule: Schedule<Checked>
  readonly #outbox: Outbox
  readonly #monitors = new Map<string, Checked>()
  readonly #lag = new RollingSpans()
  readonly #blocks = new RollingSpans()
  /** Those whose turn it is and who have not begun. */
  #ready: Checked[] = []
  /** Those with somebody waiting for a run for which there was no room. */
  readonly #wanted = new Set<Checked>()
  #beginning: Timer | null = null
  #wake: Timer | null = null
  #wakeAt = 0
  #pulsedAt: number
  #inFlight = 0
  #runs = 0
  #skipped = 0
  #hadRoute = false
  #impaired: string | null = null

  constructor(private readonly ground: EngineGround) {
    this.#clock = ground.clock
    this.#resolver = new CheckResolver(ground.names)
    this.#network = new Network(ground.clock, this.#resolver)
    this.#schedule = new Schedule(ground.clock)
    this.#outbox = new Outbox(ground.clock, results => ground.tell({ kind: 'results', results }))
    this.#pulsedAt = this.#clock.monotonic()
    this.#sleep()
  }

  /** Monitors that it checks. */
  get size(): number {
    return this.#monitors.size
  }

  take(message: ToEngine): void {
    switch (message.kind) {
      case 'configure':
        this.#configure(message)
        return
      case 'run_now':
        for (const id of message.monitors) this.#ask(this.#monitors.get(id), message.nonce)
        return
      case 'own_listeners':
        this.#network.own = message.listeners
        return
      case 'stop':
        this.#stop()
    }
  }

  #configure({ full, upsert, remove }: ToEngine & { kind: 'configure' }): void {
    const gone = new Set(remove)
    if (full) for (const id of this.#monitors.keys()) gone.add(id)
    for (const spec of upsert) gone.delete(spec.monitor)
    for (const id of gone) this.#drop(this.#monitors.get(id))
    const unknown = upsert.reduce((count, spec) => count + Number(!this.#monitors.has(spec.monitor)), 0)
    for (const spec of upsert) this.#put(spec, !full && unknown <= mostResumed)
    this.#wake?.cancel()
    this.#sleep()
  }

  /** @param resumed whether one that is not known here was not run anywhere until now */
  #put(spec: CheckSpec, resumed: boolean): void {
    const before = this.#monitors.get(spec.monitor)
    if (before?.spec.revision === spec.revision && before.intervalMs === spec.interval_ms) {
      // Its workspace may have got another policy.
      before.spec = spec
      return
    }
    this.#drop(before)
    const checked = new Checked(spec, this.ground.typeOf(spec.type))
    this.#monitors.set(spec.monitor, checked)
    if (before || resumed || spec.settled === 'new') this.#schedule.joinAtOnce(checked)
    else this.#schedule.join(checked)
  }

  #drop(checked: Checked | undefined): void {
    if (!checked) return
    checked.gone = true
    this.#schedule.leave(checked)
    this.#wanted.delete(checked)
    this.#monitors.delete(checked.id)
  }

  #ask(checked: Checked | undefined, nonce: string): void {
    if (!checked) return
    if (checked.asked.length < mostAsked) checked.asked.push(nonce)
    else this.#skipped++
    this.#answer(checked)
  }

  /** Begins a run that somebody waits for, if there is room for it. */
  #answer(checked: Checked): void {
    if (checked.running || checked.asked.length === 0) return
    if (this.#inFlight >= this.ground.mostInFlight) {
      this.#wanted.add(checked)
      return
    }
    this.#wanted.delete(checked)
    this.#begin(checked, this.#schedule.now, checked.asked.shift()!)
  }

  #sleep(): void {
    const period = this.#monitors.size > 0 ? wakeMs : idleWakeMs
    const ms = period - (this.#schedule.now % period)
    this.#wakeAt = this.#clock.monotonic() + ms
    this.#wake = this.#clock.after(ms, () => this.#turn())
  }

  #turn(): void {
    const now = this.#clock.monotonic()
    this.#blocks.add(Math.max(now - this.#wakeAt, 0))
    for (const checked of this.#schedule.due()) this.#ready.push(checked)
    this.#beginReady()
    if (now - this.#pulsedAt >= pulseMs) {
      // What a machine slept through is no reason to tell of it second by second.
      this.#pulsedAt = now - this.#pulsedAt >= 2 * pulseMs ? now : this.#pulsedAt + pulseMs
      void this.#resolver.recheck()
      this.#examineSelf()
      this.#pulse()
      this.#lag.turn()
      this.#blocks.turn()
    }
    this.#sleep()
  }

  #beginReady(): void {
    this.#beginning?.cancel()
    this.#beginning = null
    for (const checked of this.#ready.splice(0, begunAtOnce)) {
      if (checked.gone) continue
      if (checked.running || this.#inFlight >= this.ground.mostInFlight || !this.#schedule.isInTime(checked)) {
        this.#schedule.leaveOut(checked)
      } else {
        this.#lag.add(Math.max(this.#schedule.now - checked.dueAt, 0))
        this.#begin(checked, checked.dueAt, null)
      }
    }
    if (this.#ready.length > 0) this.#beginning = this.#clock.after(0, () => this.#beginReady())
  }

  #begin(checked: Checked, dueAt: number, nonce: string | null): void {
    const { spec, type } = checked
    const at = Math.round(this.#schedule.now)
    checked.running = true
    checked.begunAt = this.#clock.monotonic()
    this.#inFlight++
    this.#runs++
    this.#schedule.again(checked)
    const run = type ? this.#network.run(spec, type) : Promise.resolve(unsupported(spec))
    void run.then(facts => {
      checked.running = false
      this.#inFlight--
      if (!checked.gone) this.#ended(checked, facts, { nonce, at, due_at: Math.round(dueAt) })
      for (const wanted of this.#wanted) {
        if (this.#inFlight >= this.ground.mostInFlight) break
        this.#answer(wanted)
      }
    })
  }

  #ended(checked: Checked, facts: Facts, run: Pick<CheckResult, 'nonce' | 'at' | 'due_at'>): void {
    const judged = checked.judge(facts, { now: this.#clock.now(), hide: text => checked.hider()(text) })
    const isUp = judged.status === 'up'
    // Told before the result, which then does not vote.
    this.#examineSelf()
    const before = checked.streak
    if (this.#impaired === null) this.#settle(checked, judged.status !== 'down')
    const hide = isUp ? null : checked.hider()
    const result: CheckResult = {
      monitor: checked.id,
      revision: checked.spec.revision,
      ...run,
      ...(hide ? hiddenIn(judged, hide) : judged),
      code: facts.status,
      phases: facts.phases,
      address: facts.address,
      certificate: facts.tls?.certificate ?? null,
      evidence: hide && evidenceOf(facts, hide),
    }
    this.#outbox.add(result, !isUp || run.nonce !== null || before.settled !== 'up')
    this.#answer(checked)
  }

  /** Paces what is not certain yet: again soon after the first result that speaks against how it stands, then as retries go. */
  #settle(checked: Checked, ok: boolean): void {
    const before = checked.streak
    checked.streak = nextStreak(before, ok, checked.spec)
    if (checked.streak.streak === 0) return
    const pace = Math.min(checked.spec.retry_interval_ms, checked.intervalMs)
    this.#schedule.soon(checked, before.streak === 0 ? Math.min(secondLookMs, pace) : pace)
  }

  #examineSelf(): void {
    const route = this.ground.defaultRoute()
    if (route) this.#hadRoute = true
    const lost = route === false && this.#hadRoute ? 'This machine has lost its route to other networks.' : null
    const why = lost ?? (this.#resolver.helpless ? this.#resolver.trust.broken : null)
    if (why === this.#impaired) return
    // What was found before belongs before it.
    this.#outbox.flush()
    this.#impaired = why
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
      block_ms: this.#blocks.longest,
      resolver: { ...this.#resolver.counts },
      impaired: this.#impaired,
    }
    this.ground.tell({ kind: 'pulse', pulse })
  }

  #stop(): void {
    this.#wake?.cancel()
    this.#beginning?.cancel()
    this.#ready = []
    for (const checked of this.#monitors.values()) this.#drop(checked)
    this.#outbox.flush()
  }
}

function unsupported({ type }: CheckSpec): Facts {
  return { ...noFacts(), error: { kind: 'unsupported', message: `This location does not know checks of the type ${type}.` } }
}
