import type { CheckError } from '../check'
import type { HostFacts } from '../tls-probe/host-scan'

/** The check thread ended before the scan did, or is being restarted. The scan can be tried again. */
export class ScanInterrupted extends Error {
  override readonly name = 'ScanInterrupted'
  constructor() {
    super('The scan was interrupted, because the thread that runs checks and scans was restarted.')
  }
}

type Pending = PromiseWithResolvers<HostFacts>

/** Scans that the thread of the engine was asked for. */
export class PendingScans {
  #last = 0
  readonly #pending = new Map<number, Pending>()

  /** Adds a scan. Numbers are never used twice. */
  add(): { scan: number; facts: Promise<HostFacts> } {
    const pending = Promise.withResolvers<HostFacts>()
    this.#pending.set(++this.#last, pending)
    return { scan: this.#last, facts: pending.promise }
  }

  finish(scan: number, facts: HostFacts): void {
    this.#end(scan, pending => pending.resolve(facts))
  }

  fail(scan: number, reason: unknown): void {
    this.#end(scan, pending => pending.reject(reason))
  }

  /** Interrupts all scans, because the thread is gone. */
  interrupt(): void {
    for (const scan of this.#pending.keys()) this.fail(scan, new ScanInterrupted())
  }

  #end(scan: number, end: (pending: Pending) => void): void {
    const pending = this.#pending.get(scan)
    this.#pending.delete(scan)
    if (pending) end(pending)
  }
}

/** What a scan found that failed as a whole. */
export const failedScan = (error: CheckError): HostFacts => ({ addresses: [], skipped_addresses: 0, error })
