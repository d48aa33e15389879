import { HostScanner } from '../../../checks/tls-probe/host-scan'
import type { Hub } from '../../../core/hub'
import { egressOf } from '../../../core/net/hub-egress'
import type { Engine } from './engine'

/** Scans TLS servers in this thread, for an engine that checks nothing itself. */
export function scansHere(hub: Hub): Engine['scanTls'] {
  const scanner = new HostScanner()
  return (request, policy, signal) =>
    scanner.scan(request, (host, port) => egressOf(hub).vetAddresses(host, port, policy), {
      now: () => performance.now(),
      wallNow: () => hub.clock.now(),
      signal,
    })
}
