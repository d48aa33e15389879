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
    try {
      await tail.add(listener)
    } catch (error) {
      listener.stream.close()
      throw error
    }
    // It may have ended meanwhile, and then nobody lets go of what it takes from here on.
    if (!listener.stream.isOpen) return
    this.watched.forEach((one, place) => one.add(listener, listener.watches[place] ?? []))
    const end = listener.place
    listener.stream.retryAfter(2_000)
    if (since !== null) listener.place = placeIn(since, end) ?? end
    listener.stream.send('hello', { at: instant(this.hub.clock.now()), position: listener.position }, listener.position)
    if (since !== null && placeIn(since, end) === null) listener.reset(end)
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
    tail?.listeners.delete(listener)
    if (!tail || tail.listeners.size > 0) return
    tail.stop()
    this.tails.delete(listener.workspaceId)
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

/** The place that a client remembers; null where it is none of this log. @param end the last one */
function placeIn(since: string, end: number): number | null {
  const place = /^\d{1,15}$/.test(since) ? Number(since) : null
  return place !== null && place <= end ? place : null
}

const ofHub = new WeakMap<Hub, Live>()

/** Those who listen in this process. */
export function liveOf(hub: Hub): Live {
  let live = ofHub.get(hub)
  if (!live) ofHub.set(hub, (live = new Live(hub)))
  return live
}
