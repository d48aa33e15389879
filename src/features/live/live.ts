import { instant, type Timer } from '../../core/clock'
import type { Hub } from '../../core/hub'
import { Problem } from '../../core/problem'
import type { Listener } from './listener'
import { headsOf, LogTail } from './log-tail'
import { Watched, watchables } from './watched'

/** Streams that one session or token, and that all together, may hold in one process. */
export const mostStreams = { ofHolder: 20, ofAll: 500 }
const beatMs = 1_000
/** Beats between two looks at whether listeners may still listen, and between two signs of life. */
const recheckEach = 5
const keepAliveEach = 15
/** How long a workspace is still listened to when nobody does any more. */
const lingerMs = 60_000

/** All who listen in this process. */
class Live {
  private readonly listeners = new Set<Listener>()
  private readonly tails = new Map<string, LogTail>()
  private readonly watched: readonly Watched[]
  private timer: Timer | null = null
  private beats = 0
  private looking: Promise<void> | null = null
  private rechecking: Promise<void> | null = null
  private closed = false

  constructor(private readonly hub: Hub) {
    this.watched = watchables.map(kind => new Watched(hub, kind))
  }

  /** How many streams are open. */
  get size(): number {
    return this.listeners.size
  }

  /**
   * Begins a stream.
   * @param since the place to go on behind, as the client remembers it; null for from now on
   * @throws Problem 429
   */
  async begin(listener: Listener, since: string | null): Promise<void> {
    this.refuseTooMany(listener.holder)
    this.listeners.add(listener)
    const tail = this.tailOf(listener.workspaceId)
    const isKnown = await tail.add(listener, since).catch(error => {
      this.drop(tail)
      listener.stream.close()
      throw error
    })
    // It may have ended meanwhile, and then nobody lets go of what it takes from here on.
    if (!listener.stream.isOpen) return
    this.watched.forEach((one, place) => one.add(listener, listener.watches[place] ?? []))
    listener.stream.retryAfter(2_000)
    listener.stream.send('hello', { at: instant(this.hub.clock.now()), position: listener.position }, listener.position)
    if (!isKnown) listener.reset(listener.place)
    void tail.catchUp(listener).catch(error => {
      this.hub.log.warn({ err: error }, 'a stream could not be told what it missed')
      listener.stream.close()
    })
    if (this.closed) listener.stream.close()
    else this.timer ??= this.hub.clock.after(beatMs, () => this.beat())
  }

  /** Lets go of a listener whose stream has ended. */
  leave(listener: Listener): void {
    this.listeners.delete(listener)
    this.watched.forEach((one, place) => one.remove(listener, listener.watches[place] ?? []))
    const tail = this.tails.get(listener.workspaceId)
    if (!tail?.listeners.delete(listener) || tail.listeners.size > 0) return
    // Who comes back soon, such as a page that is loaded anew, is told what it missed.
    this.hub.clock.after(lingerMs, () => {
      if (tail.listeners.size === 0) this.drop(tail)
    })
  }

  /** Looks for what other hubs committed. */
  look(): void {
    if (this.tails.size === 0) return
    this.looking ??= headsOf(this.hub.read, [...this.tails.keys()])
      .then(heads => heads.forEach((head, id) => this.tails.get(id)?.grown(head)))
      .catch(error => this.hub.log.warn({ err: error }, 'changes could not be looked for; it is tried again'))
      .finally(() => (this.looking = null))
  }

  /** Ends all streams, and begins none any more. */
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

  private beat(): void {
    this.timer = this.listeners.size > 0 ? this.hub.clock.after(beatMs, () => this.beat()) : null
    this.beats += 1
    this.look()
    for (const one of this.watched) one.look()
    if (this.beats % recheckEach === 0) this.recheck()
    if (this.beats % keepAliveEach === 0) for (const one of [...this.listeners]) one.stream.keepAlive(one.position)
  }

  /** One after another: nobody waits for it, and hundreds at once would keep others waiting. */
  private recheck(): void {
    this.rechecking ??= (async () => {
      for (const listener of [...this.listeners]) if (listener.stream.isOpen) await listener.recheck()
    })()
      .catch(error => this.hub.log.warn({ err: error }, 'who listens could not be looked at; it is tried again'))
      .finally(() => (this.rechecking = null))
  }

  private tailOf(workspaceId: string): LogTail {
    let tail = this.tails.get(workspaceId)
    if (!tail) this.tails.set(workspaceId, (tail = new LogTail(this.hub, workspaceId)))
    return tail
  }

  private refuseTooMany(holder: string): void {
    const own = [...this.listeners].filter(one => one.holder === holder).length
    if (own >= mostStreams.ofHolder)
      throw tooMany(`${own} streams are open with this credential, as many as may be. Close one.`, 'streams')
    if (this.size >= mostStreams.ofAll) throw tooMany(`${this.size} streams are open, as many as may be.`, 'all-streams')
  }
}

const tooMany = (detail: string, policy: string): Problem =>
  new Problem('rate_limited', detail, { headers: { 'Retry-After': '5' }, members: { 'violated-policies': [policy] } })

const ofHub = new WeakMap<Hub, Live>()

/** Those who listen in this process. */
export function liveOf(hub: Hub): Live {
  let live = ofHub.get(hub)
  if (!live) ofHub.set(hub, (live = new Live(hub)))
  return live
}
