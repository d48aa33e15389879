import type { CheckError } from '../check'
import type { HostFacts } from '../tls-probe/host-scan'

/** Scans that the thread of the engine was asked for. */
export class PendingScans {
  #last = 0
  readonly #pending = new Map<number, (facts: HostFacts) => void>()

  /** @param ask called with the number of the new scan */
  add(ask: (scan: number) => void): Promise<HostFacts> {
    const scan = ++this.#last
    return new Promise(resolve => {
      this.#pending.set(scan, resolve)
      ask(scan)
    })
  }

  finish(scan: number, facts: HostFacts): void {
    this.#pending.get(scan)?.(facts)
    this.#pending.delete(scan)
  }

  /** Ends all scans, because the thread is gone. */
  abandon(): void {
    for (const resolve of this.#pending.values()) resolve(failedScan(interrupted))
    this.#pending.clear()
  }
}

/** What a scan found that failed as a whole. */
export const failedScan = (error: CheckError): HostFacts => ({ addresses: [], skipped_addresses: 0, error })

const interrupted: CheckError = { kind: 'internal', message: 'the scan was interrupted' }
