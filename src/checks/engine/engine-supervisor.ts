import type { Clock, Timer } from '../../core/clock'
import type { Log } from '../../core/log'
import type { NetworkPolicy } from '../../core/net/egress'
import type { Resolver } from '../../core/net/resolvers'
import { startThread, type Thread } from '../../core/thread'
import { yieldToEventLoop } from '../../core/time-slices'
import type { CheckSpec } from '../check'
import { partsToSend, type FromEngine, type ToEngine } from '../messages'
import type { HostFacts, HostScanRequest } from '../tls-probe/host-scan'
import { CurrentCheck } from './current-check'
import { PendingScans, ScanInterrupted } from './pending-scans'
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

const watchIntervalMs = 250
/** Without monitors, no check can block the thread. */
const idleLooks = 4
// Counts looks instead of time: if this process stalled, it could not have received any pulse.
const maxLooksWithoutPulse = 40
// A check is limited to a fraction of this time.
const maxLooksAtSameCheck = 6
// The first time, the machine may have been too busy to run the thread.
const maxBlocks = 2
const firstDelayMs = 1000
const maxDelayMs = 30_000
// After this many pulses an engine is considered healthy, and the next restart is quick again.
const healthyPulses = 60

/**
 * Runs the engine in a thread, and restarts it with its configuration if it dies or hangs. Checks in flight are lost then and run again at
 * their next scheduled time. A check that hangs the thread repeatedly is quarantined: it runs again when its monitor is changed.
 */
export class EngineSupervisor {
  readonly #specs = new Map<string, CheckSpec>()
  #listeners: (ToEngine & { kind: 'hub_listeners' }) | null = null
  #listener: (message: FromEngine) => void = () => {}
  #thread: Thread<ToThread> | null = null
  #timer: Timer | null = null
  #looksWithoutPulse = 0
  #current = new CurrentCheck()
  #section = 0
  #looksAtSameCheck = 0
  /** How many times in a row a check blocked the thread, by monitor, and the revision that did. Those with `maxBlocks` no longer run. */
  readonly #blocks = new Map<string, { count: number; revision: number }>()
  readonly #scans = new PendingScans()
  #pulses = 0
  #delayMs = firstDelayMs
  #stopped = false

  constructor(private readonly options: SupervisorOptions) {}

  start(): void {
    this.#startThread()
    this.#watch()
  }

  /** Calls `listener` with every message of the engine but those about scans, in order; after a restart they begin with `ready` again. */
  onMessage(listener: (message: FromEngine) => void): void {
    this.#listener = listener
  }

  send(message: ToEngine): void {
    if (message.kind === 'configure') {
      const wasIdle = this.#specs.size === 0
      if (message.full) this.#specs.clear()
      for (const id of message.remove) this.#forget(id)
      for (const spec of message.upsert) {
        if (this.#blocks.get(spec.monitor)?.revision !== spec.revision) this.#blocks.delete(spec.monitor)
        this.#specs.set(spec.monitor, spec)
      }
      if (wasIdle && this.#timer && !this.#stopped) this.#watch()
    }
    if (message.kind === 'hub_listeners') this.#listeners = message
    const upsert = message.kind === 'configure' ? message.upsert.filter(spec => !this.#isQuarantined(spec)) : []
    this.#thread?.post(message.kind === 'configure' ? { ...message, upsert } : message)
  }

  /**
   * Scans the TLS of a host in the thread.
   * @param signal ends the scan
   * @throws ScanInterrupted if the thread ends before the scan or is not running; the reason of `signal` if that ends it
   */
  async scanTls(request: HostScanRequest, policy: NetworkPolicy, signal?: AbortSignal): Promise<HostFacts> {
    signal?.throwIfAborted()
    if (!this.#thread) throw new ScanInterrupted()
    const { scan, facts } = this.#scans.add()
    const end = () => {
      this.#scans.fail(scan, signal!.reason)
      this.#thread?.post({ kind: 'end_scan', scan })
    }
    signal?.addEventListener('abort', end)
    this.#thread.post({ kind: 'scan_tls', scan, request, policy })
    try {
      return await facts
    } finally {
      signal?.removeEventListener('abort', end)
    }
  }

  #forget(id: string): void {
    this.#specs.delete(id)
    this.#blocks.delete(id)
  }

  #isQuarantined = ({ monitor }: CheckSpec): boolean => (this.#blocks.get(monitor)?.count ?? 0) >= maxBlocks

  /** Stops the engine and all running checks. Safe to call twice. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#thread?.stop({ kind: 'stop' })
    this.#thread = null
    this.#scans.interrupt()
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
    this.#looksWithoutPulse = 0
    this.#pulses = 0
    // The thread before may still write to its memory.
    this.#current = new CurrentCheck()
    this.#section = 0
    thread.post({ kind: 'begin', resolvers: this.options.resolvers, current: this.#current.memory })
    if (this.#listeners) thread.post(this.#listeners)
    void this.#sendAll(thread)
  }

  /** Sends all monitors, in parts: thousands at once would block other work of this process. */
  async #sendAll(thread: Thread<ToThread>): Promise<void> {
    let full = true
    const ids = [...this.#specs.values()].filter(spec => !this.#isQuarantined(spec)).map(spec => spec.monitor)
    for (const part of partsToSend(ids)) {
      if (!full) await yieldToEventLoop()
      if (thread !== this.#thread) return
      // They may have changed since the part before.
      thread.post({ kind: 'configure', full, upsert: part.flatMap(id => this.#specs.get(id) ?? []), remove: [] })
      full = false
    }
  }

  #receive(message: FromEngine): void {
    this.#looksWithoutPulse = 0
    // A check that finished does not hang each time: the machine was too busy, or what it read was different.
    if (message.kind === 'results' && this.#blocks.size > 0)
      for (const { monitor } of message.results) if (this.#blocks.get(monitor)?.count !== maxBlocks) this.#blocks.delete(monitor)
    if (message.kind === 'tls_scanned') return this.#scans.finish(message.scan, message.facts)
    if (message.kind === 'pulse' && ++this.#pulses === healthyPulses) this.#delayMs = firstDelayMs
    this.#listener(message)
  }

  #watch(): void {
    this.#timer?.cancel()
    const looks = this.#specs.size > 0 ? 1 : idleLooks
    this.#timer = this.options.clock.after(looks * watchIntervalMs, () => {
      if (this.#thread) this.#look(this.#thread, looks)
      this.#watch()
    })
  }

  /** @param looks number of intervals since the last look */
  #look(thread: Thread<ToThread>, looks: number): void {
    const current = this.#current.read()
    this.#looksAtSameCheck = current !== null && current.section === this.#section ? this.#looksAtSameCheck + 1 : 0
    this.#section = current?.section ?? 0
    const isBlocked = current !== null && this.#looksAtSameCheck >= maxLooksAtSameCheck
    this.#looksWithoutPulse += looks
    if (!isBlocked && this.#looksWithoutPulse <= maxLooksWithoutPulse) return
    if (isBlocked) this.#countBlock(current.monitor)
    this.#restart('hung', isBlocked ? 0 : this.#delayMs)
    thread.terminate()
  }

  #countBlock(monitor: string): void {
    const spec = this.#specs.get(monitor)
    if (!spec) return
    const { revision } = spec
    const count = (this.#blocks.get(monitor)?.count ?? 0) + 1
    this.#blocks.set(monitor, { count, revision })
    this.options.log.error({ monitor, count }, 'a check blocked the check thread')
    if (count === maxBlocks) this.#listener({ kind: 'quarantined', monitor, revision })
  }

  #restart(reason: 'ended' | 'hung', delayMs = this.#delayMs): void {
    this.#thread = null
    this.#scans.interrupt()
    if (this.#stopped) return
    this.options.log.error({ wait_ms: delayMs }, `check thread ${reason}, restarting`)
    this.options.clock.after(delayMs, () => {
      if (!this.#stopped && !this.#thread) this.#startThread()
    })
    if (delayMs > 0) this.#delayMs = Math.min(this.#delayMs * 2, maxDelayMs)
  }
}
