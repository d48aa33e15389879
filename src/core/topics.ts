import type { Hub } from './hub'

/** Wakes those of this process who wait for something to be committed, by what it is about. */
class Topics {
  private readonly listeners = new Map<string, Set<() => void>>()

  /** Calls `listener` whenever the topic is woken, until the returned function is called. */
  on(topic: string, listener: () => void): () => void {
    let heard = this.listeners.get(topic)
    if (!heard) this.listeners.set(topic, (heard = new Set()))
    heard.add(listener)
    return () => {
      heard.delete(listener)
      if (heard.size === 0 && this.listeners.get(topic) === heard) this.listeners.delete(topic)
    }
  }

  wake(topic: string): void {
    for (const listener of [...(this.listeners.get(topic) ?? [])]) listener()
  }

  wakeAll(): void {
    for (const topic of [...this.listeners.keys()]) this.wake(topic)
  }
}

const ofHub = new WeakMap<Hub, Topics>()

/** The topics of this process. Other hubs of the database are not told: whoever waits also looks by itself. */
export function topicsOf(hub: Hub): Topics {
  let topics = ofHub.get(hub)
  if (!topics) ofHub.set(hub, (topics = new Topics()))
  return topics
}

/** What is woken when events of a workspace were committed. */
export const feedTopic = (workspaceId: string): string => `feed:${workspaceId}`

/** What is woken when entries of a workspace's audit log were committed. */
export const auditTopic = (workspaceId: string): string => `audit:${workspaceId}`
