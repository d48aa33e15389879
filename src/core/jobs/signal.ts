/** Wakes listeners when jobs are committed, so that they start without polling. */
export class JobSignal {
  private readonly listeners = new Set<(kinds?: readonly string[]) => void>()

  /** Calls `listener` for each wake-up until the returned function is called, with the kinds of the new jobs if they are known. */
  on(listener: (kinds?: readonly string[]) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  /** @param kinds kinds of the new jobs; any if not given */
  wake(kinds?: readonly string[]): void {
    for (const listener of this.listeners) listener(kinds)
  }
}
