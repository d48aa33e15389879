import type { Hub } from './hub'

/** Wakes listeners of this process that wait for changes to a topic. */
class Topics {
  private readonly listeners = new Map<string, Set<() => void>>()

  /** Calls `listener` each time the topic is woken, until the returned function is called. */
  on(topic: string, listener: () => void): () => void {
    let listeners = this.listeners.get(topic)
    if (!listeners) this.listeners.set(topic, (listeners = new Set()))
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.listeners.get(topic) === listeners) this.listeners.delete(topic)
    }
  }

  wake(topic: string): void {
    const listeners = this.listeners.get(topic)
    if (listeners) for (const listener of [...listeners]) listener()
  }

  wakeAll(): void {
    for (const topic of [...this.listeners.keys()]) this.wake(topic)
  }
}

const ofHub = new WeakMap<Hub, Topics>()

/** The topics of this process. Other hubs of the database are not notified, so listeners must also poll. */
export function topicsOf(hub: Hub): Topics {
  let topics = ofHub.get(hub)
  if (!topics) ofHub.set(hub, (topics = new Topics()))
  return topics
}

/** Woken when events of a workspace are committed. */
export const feedTopic = (workspaceId: string): string => `feed:${workspaceId}`

/** Woken when audit events of a workspace are committed. */
export const auditTopic = (workspaceId: string): string => `audit:${workspaceId}`
