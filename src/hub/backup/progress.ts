const everyMs = 2_000

/** Reports progress of long work: nothing in the first seconds, and then a line every few seconds. */
export class Progress {
  private reportedAt = performance.now()

  constructor(private readonly report: (line: string) => void) {}

  /** @param line is only called if a line is due */
  note(line: () => string): void {
    const now = performance.now()
    if (now - this.reportedAt < everyMs) return
    this.reportedAt = now
    this.report(line())
  }
}
