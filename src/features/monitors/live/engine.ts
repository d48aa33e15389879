import type { FromEngine, ToEngine } from '../../../checks/messages'
import type { HostFacts, HostScanRequest } from '../../../checks/tls-probe/host-scan'
import type { NetworkPolicy } from '../../../core/net/egress'

/** Runs the checks of one location: a worker thread of the hub, or a script in tests. */
export interface Engine {
  send(message: ToEngine): void
  /** Registers the handler for messages from the engine, which are delivered in order. Call once, before `send`. */
  onMessage(handler: (message: FromEngine) => void): void
  /**
   * Scans the TLS of a host.
   * @param signal ends the scan
   * @throws ScanInterrupted if the engine ends before the scan or is being restarted; the reason of `signal` if that ends it
   */
  scanTls(request: HostScanRequest, policy: NetworkPolicy, signal: AbortSignal): Promise<HostFacts>
  /** Stops the engine, all running checks, and all scans. */
  stop(): Promise<void>
}
