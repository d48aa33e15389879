import { systemClock } from '../../src/core/clock'
import { openLog } from '../../src/core/log'
import { createEgress, vetUdpHost, type NetworkPolicy } from '../../src/core/net/egress'
import { guardedFetch, presentedFingerprint, type FetchLimits } from '../../src/core/net/guarded-fetch'
import type { AdapterContext } from '../../src/features/dns/providers/provider'

/** The world as an adapter sees it, open to this machine. @param tighter limits that win over the adapter's own */
export function pluginContext(tighter: FetchLimits = {}, network: Partial<NetworkPolicy> = {}): AdapterContext {
  const egress = createEgress({ ownListeners: () => [] })
  const policy = { allowPrivate: true, allowRanges: [], requireHttps: false, ...network }
  return {
    clock: systemClock,
    log: openLog('silent'),
    request: (request, limits = {}) => guardedFetch(request, { egress, policy, limits: { ...limits, ...tighter } }),
    presentedFingerprint: url => presentedFingerprint(url, { egress, policy }),
    vet: (host, port, protocol) =>
      protocol === 'udp' ? vetUdpHost(egress, host, port, policy) : egress.vetHost(host, port, policy),
  }
}
