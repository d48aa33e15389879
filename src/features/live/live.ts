import { instant, type Timer } from '../../core/clock'
import type { Hub } from '../../core/hub'
import { Problem } from '../../core/problem'
import type { Listener } from './listener'
import { headsOf, LogTail } from './log-tail'
import { WatchedResources, watchKinds } from './watched-resources'

/** Maximum number of open streams in one process, per session or token and in total. */
export const maxStreams = { perCredential: 20, total: 500 }
const tickMs = 1_000
/** Ticks between two rechecks of the listeners' access, and between two keep-alive comments. */
const recheckTicks = 5
const keepAliveTicks = 15
/** How long a log tail is kept after its last listener left. */
const lingerMs = 60_000

/** All streams of this process. */
class Live {
  private readonly listeners = new Set<Listener>()
  private readonly tails = new Map<string, LogTail>()
  private readonly watched: readonly WatchedResources[]
  private timer: Timer | null = null
  private ticks = 0
  private polling: Promise<void> | null = null
  private rechecking: Promise<void> | null = null
  private closed = false

  constructor(private readonly hub: Hub) {
    this.watched = watchKinds.map(kind => new WatchedResources(hub, kind))
  }

  /** The number of open streams. */
  get size(): number {
    return this.listeners.size
  }

  /**
   * Opens a stream.
   * @param since the event id to resume after; null to start with the next change
   * @throws Problem 429
   */
  async open(listener: Listener, since: string | null): Promise<void> {
    this.requireCapacity(listener.holder)
    this.listeners.add(listener)
    const tail = this.tailOf(listener.workspaceId)
    const canResume = await tail.add(listener, since).catch(error => {
      this.drop(tail)
      listener.stream.close()
      throw error
    })
    // If the stream has ended meanwhile, `remove` has already run, so nothing may be added anymore.
    if (!listener.stream.isOpen) return
    this.watched.forEach((one, at) => one.add(listener, listener.watches[at] ?? []))
    listener.stream.retryAfter(2_000)
    listener.stream.send('hello', { at: instant(this.hub.clock.now()), position: listener.eventId }, listener.eventId)
    if (!canResume) listener.reset(listener.position)
    void tail.catchUp(listener).catch(error => {
      this.hub.log.warn({ err: error }, 'could not read the missed changes of a stream')
      listener.stream.close()
    })
    if (this.closed) listener.stream.close()
    else this.timer ??= this.hub.clock.after(tickMs, () => this.tick())
  }

  /** Removes a listener whose stream has ended. */
  remove(listener: Listener): void {
    this.listeners.delete(listener)
    this.watched.forEach((one, at) => one.remove(listener, listener.watches[at] ?? []))
    const tail = this.tails.get(listener.workspaceId)
    if (!tail?.listeners.delete(listener) || tail.listeners.size > 0) return
    // Lets clients that reconnect soon resume, such as a page that is reloaded.
    this.hub.clock.after(lingerMs, () => {
      if (tail.listeners.size === 0) this.drop(tail)
    })
  }

  /** Looks for changes committed by other hubs. */
  poll(): void {
    if (this.tails.size === 0) return
    this.polling ??= headsOf(this.hub.read, [...this.tails.keys()])
      .then(heads => heads.forEach((head, id) => this.tails.get(id)?.advanceTo(head)))
      .catch(error => this.hub.log.warn({ err: error }, 'could not poll for changes; retrying'))
      .finally(() => (this.polling = null))
  }

  /** Ends all streams and opens no new ones. */
  end(): void {
    this.closed = true
    this.timer?.cancel()
    for (const listener of [...this.listeners]) listener.stream.close()
    for (const tail of [...this.tails.values()]) this.drop(tail)
  }

  private drop(tail: LogTail): void {
    tail.stop()
    if (this.tails.get(tail.workspaceId) === tail) this.tails.delete(tail.workspaceId)
  }

  private tick(): void {
    this.timer = this.listeners.size > 0 ? this.hub.clock.after(tickMs, () => this.tick()) : null
    this.ticks += 1
    this.poll()
    for (const one of this.watched) one.poll()
    if (this.ticks % recheckTicks === 0) this.recheck()
    if (this.ticks % keepAliveTicks === 0) for (const one of [...this.listeners]) one.stream.keepAlive(one.eventId)
  }

  /** Rechecks listeners one after another, because hundreds of queries at once would delay other requests. */
  private recheck(): void {
    this.rechecking ??= (async () => {
      for (const listener of [...this.listeners]) if (listener.stream.isOpen) await listener.recheck()
    })()
      .catch(error => this.hub.log.warn({ err: error }, 'could not recheck the access of streams; retrying'))
      .finally(() => (this.rechecking = null))
  }

  private tailOf(workspaceId: string): LogTail {
    let tail = this.tails.get(workspaceId)
    if (!tail) this.tails.set(workspaceId, (tail = new LogTail(this.hub, workspaceId)))
    return tail
  }

  private requireCapacity(holder: string): void {
    const own = [...this.listeners].filter(one => one.holder === holder).length
    if (own >= maxStreams.perCredential)
      throw tooManyStreams(`This credential has ${own} open streams, which is the maximum. Close one first.`, 'streams')
    if (this.size >= maxStreams.total)
      throw tooManyStreams(`This hub has ${this.size} open streams, which is the maximum.`, 'all-streams')
  }
}

const tooManyStreams = (detail: string, policy: string): Problem =>
  new Problem('rate_limited', detail, { headers: { 'Retry-After': '5' }, fields: { 'violated-policies': [policy] } })

const byHub = new WeakMap<Hub, Live>()

/** Returns the streams of this process. */
export function liveOf(hub: Hub): Live {
  let live = byHub.get(hub)
  if (!live) byHub.set(hub, (live = new Live(hub)))
  return live
}
