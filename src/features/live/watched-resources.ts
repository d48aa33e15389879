import type { Timer } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import type { Hub } from '../../core/hub'
import type { Permission } from '../../core/permissions'
import { topicsOf } from '../../core/topics'
import { heartbeatsToWatch, pingedElsewhere, pingsToWatch, pingTopic } from '../heartbeats/watching'
import { checkedElsewhere, monitorsToWatch, resultsToWatch, resultTopic } from '../monitors/watching'
import { liveTopic } from '../servers/live/live-servers'
import { keepLive, liveRowsToWatch, serversToWatch } from '../servers/live/read'
import type { Listener } from './listener'
import { gatherMs } from './log-tail'

/** A kind of resource that can be watched. Its updates are too frequent for the audit log, so clients name the ids they need. */
interface WatchKind {
  /** Name of the event, and of the field in its data. */
  event: 'results' | 'heartbeats' | 'live'
  field: 'monitors' | 'heartbeats' | 'servers'
  /** Permission that is required to watch it. */
  permission: Permission
  /** Returns the ids that the caller has access to. */
  accessibleIds(ctx: Ctx, ids: readonly string[]): Promise<string[]>
  /** Topic that signals an update. */
  topic(id: string): string
  views(hub: Hub, ids: readonly string[]): Promise<{ id: string }[]>
  /** Returns the ids that another hub has updated. Without it, the topic is also woken for updates by other hubs. */
  updatedElsewhere?(hub: Hub, ids: readonly string[]): Promise<string[]>
  /** Called each second while the ids are watched. */
  keepUpdating?(hub: Hub, ids: readonly string[]): Promise<void>
}

export const watchKinds: readonly WatchKind[] = [
  {
    event: 'results',
    field: 'monitors',
    permission: 'monitoring.read',
    accessibleIds: monitorsToWatch,
    topic: resultTopic,
    views: resultsToWatch,
    updatedElsewhere: checkedElsewhere,
  },
  {
    event: 'heartbeats',
    field: 'heartbeats',
    permission: 'monitoring.read',
    accessibleIds: heartbeatsToWatch,
    topic: pingTopic,
    views: pingsToWatch,
    updatedElsewhere: pingedElsewhere,
  },
  {
    event: 'live',
    field: 'servers',
    permission: 'cloud.read',
    accessibleIds: serversToWatch,
    topic: liveTopic,
    views: liveRowsToWatch,
    keepUpdating: keepLive,
  },
]

const maxViewsPerQuery = 500

/** The watched resources of one kind, and their listeners. */
export class WatchedResources {
  private readonly byId = new Map<string, { listeners: Set<Listener>; unsubscribe: () => void }>()
  private updated = new Set<string>()
  private timer: Timer | null = null
  private polling: Promise<void> | null = null

  constructor(
    private readonly hub: Hub,
    private readonly kind: WatchKind,
  ) {}

  add(listener: Listener, ids: readonly string[]): void {
    for (const id of ids) {
      let one = this.byId.get(id)
      if (!one) {
        const unsubscribe = topicsOf(this.hub).on(this.kind.topic(id), () => this.gather([id]))
        this.byId.set(id, (one = { listeners: new Set(), unsubscribe }))
      }
      one.listeners.add(listener)
    }
  }

  remove(listener: Listener, ids: readonly string[]): void {
    for (const id of ids) {
      const one = this.byId.get(id)
      one?.listeners.delete(listener)
      if (!one || one.listeners.size > 0) continue
      one.unsubscribe()
      this.byId.delete(id)
    }
  }

  /** Looks for updates by other hubs, and lets what is watched be updated. */
  poll(): void {
    if (this.byId.size === 0) return
    this.polling ??= this.refresh([...this.byId.keys()])
      .catch(error => this.hub.log.warn({ err: error }, 'could not poll watched resources; retrying'))
      .finally(() => (this.polling = null))
  }

  private async refresh(ids: readonly string[]): Promise<void> {
    await this.kind.keepUpdating?.(this.hub, ids)
    if (this.hub.series.isShared) this.gather((await this.kind.updatedElsewhere?.(this.hub, ids)) ?? [])
  }

  private gather(ids: readonly string[]): void {
    if (ids.length === 0) return
    for (const id of ids) this.updated.add(id)
    this.timer ??= this.hub.clock.after(gatherMs, () => {
      this.timer = null
      void this.notifyListeners().catch(error => this.hub.log.warn({ err: error }, 'could not send updates of watched resources'))
    })
  }

  private async notifyListeners(): Promise<void> {
    const ids = [...this.updated].filter(id => this.byId.has(id))
    this.updated = new Set()
    for (let at = 0; at < ids.length; at += maxViewsPerQuery) {
      const byListener = new Map<Listener, { id: string }[]>()
      for (const view of await this.kind.views(this.hub, ids.slice(at, at + maxViewsPerQuery)))
        for (const listener of this.byId.get(view.id)?.listeners ?? [])
          if (this.maySee(listener, view.id)) byListener.set(listener, [...(byListener.get(listener) ?? []), view])
      for (const [listener, views] of byListener)
        listener.stream.send(this.kind.event, { [this.kind.field]: views }, listener.eventId)
    }
  }

  /** Whether a listener may still see a resource. */
  private maySee({ access }: Listener, id: string): boolean {
    return access.permissions.has(this.kind.permission) && (access.resourceIds?.has(id) ?? true)
  }
}
