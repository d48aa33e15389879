import type { Clock, Timer } from '../../core/clock'
import type { Log } from '../../core/log'
import type { Resolver } from '../../core/net/resolvers'
import { startThread, type Thread } from '../../core/thread'
import type { CheckSpec } from '../check'
import type { FromEngine, ToEngine } from '../messages'
import type { FromThread, ToThread } from './thread'

/** What the line needs of whoever opens it. */
export interface LineGround {
  /** The file of the thread: an entry point of its own beside the program's (`src/bin/checks.ts`). */
  entry: string
  clock: Clock
  log: Log
  /** Asked for names instead of those of this machine; null for those. */
  resolvers: Resolver[] | null
}

const lookMs = 1000
// Each look without a pulse counts, not the time: a program that stood still has not listened either.
const mostSilentLooks = 10
const firstWaitMs = 1000
const longestWaitMs = 30_000
// An engine that lived so long had begun well; the next end of one is news.
const healthyPulses = 60

/**
 * The engine as a hub sees it: a thread that is started again when it dies or hangs, and told anew what it was told before. What it
 * had under way is lost then, and comes with the next turns.
 */
export class WorkerLine {
  readonly #specs = new Map<string, CheckSpec>()
  #listeners: (ToEngine & { kind: 'own_listeners' }) | null = null
  #heard: (message: FromEngine) => void = () => {}
  #thread: Thread<ToThread> | null = null
  #timer: Timer | null = null
  #silent = 0
  #pulses = 0
  #waitMs = firstWaitMs
  #stopped = false

  constructor(private readonly ground: LineGround) {}

  start(): void {
    this.#begin()
    this.#look()
  }

  /** Calls `heard` with all that the engine tells, in order; after a restart that begins with `ready` again. */
  onMessage(heard: (message: FromEngine) => void): void {
    this.#heard = heard
  }

  send(message: ToEngine): void {
    if (message.kind === 'configure') {
      if (message.full) this.#specs.clear()
      for (const id of message.remove) this.#specs.delete(id)
      for (const spec of message.upsert) this.#specs.set(spec.monitor, spec)
    }
    if (message.kind === 'own_listeners') this.#listeners = message
    this.#thread?.post(message)
  }

  /** Ends it, with all checks under way. Safe to call twice. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#thread?.stop({ kind: 'stop' })
    this.#thread = null
  }

  #begin(): void {
    const thread: Thread<ToThread> = startThread<ToThread, FromThread>(
      this.ground.entry,
      {
        hear: message => {
          // One that was given up may still have said something.
          if (thread === this.#thread && message.kind !== 'stopped') this.#hear(message)
        },
        failed: reason => this.ground.log.error({ reason }, 'the thread of checks failed'),
        ended: () => {
          if (thread === this.#thread) this.#lost('ended')
        },
      },
      { smol: true },
    )
    this.#thread = thread
    this.#silent = 0
    this.#pulses = 0
    thread.post({ kind: 'begin', resolvers: this.ground.resolvers })
    if (this.#listeners) thread.post(this.#listeners)
    if (this.#specs.size > 0) thread.post({ kind: 'configure', full: true, upsert: [...this.#specs.values()], remove: [] })
  }

  #hear(message: FromEngine): void {
    this.#silent = 0
    if (message.kind === 'pulse' && ++this.#pulses === healthyPulses) this.#waitMs = firstWaitMs
    this.#heard(message)
  }

  #look(): void {
    this.#timer = this.ground.clock.after(lookMs, () => {
      if (this.#thread && ++this.#silent > mostSilentLooks) {
        const hung = this.#thread
        this.#lost('hung')
        hung.end()
      }
      this.#look()
    })
  }

  #lost(how: 'ended' | 'hung'): void {
    this.#thread = null
    if (this.#stopped) return
    this.ground.log.error({ wait_ms: this.#waitMs }, `the thread of checks ${how}; it is started again`)
    this.ground.clock.after(this.#waitMs, () => {
      if (!this.#stopped && !this.#thread) this.#begin()
    })
    this.#waitMs = Math.min(this.#waitMs * 2, longestWaitMs)
  }
}
