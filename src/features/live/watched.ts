import type { Timer } from '../../core/clock'
import type { Hub } from '../../core/hub'
import { topicsOf } from '../../core/topics'
import { heartbeatsToWatch, pingedElsewhere, pingsToWatch, pingTopic } from '../heartbeats/watching'
import { checkedElsewhere, monitorsToWatch, resultsToWatch, resultTopic } from '../monitors/watching'
import type { Ctx } from '../../core/ctx'
import type { Listener } from './listener'
import { gatherMs } from './log-tail'

/** What may be watched: what happens to it is too much for the audit log, and is told to those alone who ask for it by name. */
export interface Watchable {
  /** The event that tells of it, and the member of its data. */
  event: 'results' | 'heartbeats'
  member: 'monitors' | 'heartbeats'
  /** Those that are the caller's. */
  mine(ctx: Ctx, ids: readonly string[]): Promise<string[]>
  /** Woken when there is something to tell. */
  topic(id: string): string
  views(hub: Hub, ids: readonly string[]): Promise<{ id: string }[]>
  /** Those of which another hub has something to tell. */
  elsewhere(hub: Hub, ids: readonly string[]): Promise<string[]>
}

export const watchables: readonly Watchable[] = [
  {
    event: 'results',
    member: 'monitors',
    mine: monitorsToWatch,
    topic: resultTopic,
    views: resultsToWatch,
    elsewhere: checkedElsewhere,
  },
  {
    event: 'heartbeats',
    member: 'heartbeats',
    mine: heartbeatsToWatch,
    topic: pingTopic,
    views: pingsToWatch,
    elsewhere: pingedElsewhere,
  },
]

const viewsAtOnce = 500

/** Those who watch something of one kind. */
export class Watched {
  private readonly byId = new Map<string, { listeners: Set<Listener>; off: () => void }>()
  private fresh = new Set<string>()
  private timer: Timer | null = null
  private looking: Promise<void> | null = null

  constructor(
    private readonly hub: Hub,
    private readonly kind: Watchable,
  ) {}

  add(listener: Listener, ids: readonly string[]): void {
    for (const id of ids) {
      let one = this.byId.get(id)
      if (!one) {
        const off = topicsOf(this.hub).on(this.kind.topic(id), () => this.gather([id]))
        this.byId.set(id, (one = { listeners: new Set(), off }))
      }
      one.listeners.add(listener)
    }
  }

  remove(listener: Listener, ids: readonly string[]): void {
    for (const id of ids) {
      const one = this.byId.get(id)
      one?.listeners.delete(listener)
      if (!one || one.listeners.size > 0) continue
      one.off()
      this.byId.delete(id)
    }
  }

  /** Looks for what happened at other hubs. */
  look(): void {
    if (this.byId.size === 0 || !this.hub.series.isShared) return
    this.looking ??= this.kind
      .elsewhere(this.hub, [...this.byId.keys()])
      .then(ids => this.gather(ids))
      .catch(error => this.hub.log.warn({ err: error }, 'what is watched could not be looked at; it is tried again'))
      .finally(() => (this.looking = null))
  }

  private gather(ids: readonly string[]): void {
    if (ids.length === 0) return
    for (const id of ids) this.fresh.add(id)
    this.timer ??= this.hub.clock.after(gatherMs, () => {
      this.timer = null
      void this.tell().catch(error => this.hub.log.warn({ err: error }, 'what is watched could not be told'))
    })
  }

  private async tell(): Promise<void> {
    const ids = [...this.fresh].filter(id => this.byId.has(id))
    this.fresh = new Set()
    for (let at = 0; at < ids.length; at += viewsAtOnce) {
      const told = new Map<Listener, { id: string }[]>()
      for (const view of await this.kind.views(this.hub, ids.slice(at, at + viewsAtOnce)))
        for (const listener of this.byId.get(view.id)?.listeners ?? [])
          if (hears(listener, view.id)) told.set(listener, [...(told.get(listener) ?? []), view])
      for (const [listener, views] of told)
        listener.stream.send(this.kind.event, { [this.kind.member]: views }, listener.position)
    }
  }
}

/** Whether it may still hear of a monitor or a heartbeat. */
const hears = ({ hearing }: Listener, id: string): boolean =>
  hearing.permissions.has('monitoring.read') && (hearing.resourceIds?.has(id) ?? true)
