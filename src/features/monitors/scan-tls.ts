import { ScanInterrupted } from '../../checks/engine/pending-scans'
import type { HostFacts, HostScanRequest } from '../../checks/tls-probe/host-scan'
import type { Hub } from '../../core/hub'
import type { NetworkPolicy } from '../../core/net/egress'
import { monitoringOf } from './live/watch'

/**
 * Scans the TLS of a host where the checks of this hub run, in a thread of their own.
 * @param signal ends the scan
 * @throws ScanInterrupted if the thread ends before the scan or is not running; the reason of `signal` if that ends it
 */
export async function scanTls(
  hub: Hub,
  request: HostScanRequest,
  policy: NetworkPolicy,
  signal: AbortSignal,
): Promise<HostFacts> {
  const monitoring = monitoringOf(hub)
  if (!monitoring) throw new ScanInterrupted()
  return await monitoring.engine.scanTls(request, policy, signal)
}
