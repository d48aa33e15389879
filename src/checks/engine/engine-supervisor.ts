import type { Clock, Timer } from '../../core/clock'
import type { Log } from '../../core/log'
import type { Resolver } from '../../core/net/resolvers'
import { startThread, type Thread } from '../../core/thread'
import type { CheckSpec } from '../check'
import type { FromEngine, ToEngine } from '../messages'
import type { FromThread, ToThread } from './thread'

/** What the supervisor depends on. */
interface SupervisorOptions {
  /** File of the thread, a separate entry point (`src/bin/checks.ts`). */
  entry: string
  clock: Clock
  log: Log
  /** Name servers to use instead of those of this machine; null for the latter. */
  resolvers: Resolver[] | null
}

const watchIntervalMs = 1000
// Counts missed pulses instead of time: if this process stalled, it could not have received any.
const maxMissedPulses = 10
const firstDelayMs = 1000
const maxDelayMs = 30_000
// After this many pulses an engine is considered healthy, and the next restart is quick again.
const healthyPulses = 60

/**
 * Runs the engine in a thread, and restarts it with its configuration if it dies or hangs. Checks in flight are lost then and run again at
 * their next scheduled time.
 */
export class EngineSupervisor {
  readonly #specs = new Map<string, CheckSpec>()
  #listeners: (ToEngine & { kind: 'hub_listeners' }) | null = null
  #listener: (message: FromEngine) => void = () => {}
  #thread: Thread<ToThread> | null = null
  #timer: Timer | null = null
  #missedPulses = 0
  #pulses = 0
  #delayMs = firstDelayMs
  #stopped = false

  constructor(private readonly options: SupervisorOptions) {}

  start(): void {
    this.#startThread()
    this.#watch()
  }

  /** Calls `listener` with every message of the engine, in order; after a restart they begin with `ready` again. */
  onMessage(listener: (message: FromEngine) => void): void {
    this.#listener = listener
  }

  send(message: ToEngine): void {
    if (message.kind === 'configure') {
      if (message.full) this.#specs.clear()
      for (const id of message.remove) this.#specs.delete(id)
      for (const spec of message.upsert) this.#specs.set(spec.monitor, spec)
    }
    if (message.kind === 'hub_listeners') this.#listeners = message
    this.#thread?.post(message)
  }

  /** Stops the engine and all running checks. Safe to call twice. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#thread?.stop({ kind: 'stop' })
    this.#thread = null
  }

  #startThread(): void {
    const thread: Thread<ToThread> = startThread<ToThread, FromThread>(
      this.options.entry,
      {
        message: message => {
          // A thread that was abandoned may still send messages.
          if (thread === this.#thread && message.kind !== 'stopped') this.#receive(message)
        },
        failed: reason => this.options.log.error({ reason }, 'check thread failed'),
        ended: () => {
          if (thread === this.#thread) this.#restart('ended')
        },
      },
      { smol: true },
    )
    this.#thread = thread
    this.#missedPulses = 0
    this.#pulses = 0
    thread.post({ kind: 'begin', resolvers: this.options.resolvers })
    if (this.#listeners) thread.post(this.#listeners)
    if (this.#specs.size > 0) thread.post({ kind: 'configure', full: true, upsert: [...this.#specs.values()], remove: [] })
  }

  #receive(message: FromEngine): void {
    this.#missedPulses = 0
    if (message.kind === 'pulse' && ++this.#pulses === healthyPulses) this.#delayMs = firstDelayMs
    this.#listener(message)
  }

  #watch(): void {
    this.#timer = this.options.clock.after(watchIntervalMs, () => {
      if (this.#thread && ++this.#missedPulses > maxMissedPulses) {
        const hung = this.#thread
        this.#restart('hung')
        hung.terminate()
      }
      this.#watch()
    })
  }

  #restart(reason: 'ended' | 'hung'): void {
    this.#thread = null
    if (this.#stopped) return
    this.options.log.error({ wait_ms: this.#delayMs }, `check thread ${reason}, restarting`)
    this.options.clock.after(this.#delayMs, () => {
      if (!this.#stopped && !this.#thread) this.#startThread()
    })
    this.#delayMs = Math.min(this.#delayMs * 2, maxDelayMs)
  }
}
