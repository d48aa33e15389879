/** Wakes listeners when jobs are committed, so that they start without polling. */
export class JobSignal {
  private readonly listeners = new Set<() => void>()

  /** Calls `listener` for each wake-up until the returned function is called. */
  on(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  wake(): void {
    for (const listener of this.listeners) listener()
  }
}
