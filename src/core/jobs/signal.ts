/** Wakes whoever waits for jobs, so that a committed job starts without a poll. */
export class JobSignal {
  private readonly listeners = new Set<() => void>()

  /** Calls `listener` at each wake-up until the returned function is called. */
  on(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  wake(): void {
    for (const listener of this.listeners) listener()
  }
}
