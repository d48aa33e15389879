import type { Hub } from '../../core/hub'
import { networkPolicy, vetUdpHost } from '../../core/net/egress'
import { guardedFetch, presentedFingerprint } from '../../core/net/guarded-fetch'
import { egressOf } from '../../core/net/hub-egress'
import type { AdapterContext } from '../context'
import { storedPolicy } from '../../access/network-policy'

/**
 * What a plug-in gets that works for a workspace and uses its secrets. Follows the workspace's current network policy.
 * @param logFields fields added to its log lines
 */
export async function adapterContextOf(
  hub: Hub,
  workspaceId: string,
  logFields: Record<string, string>,
): Promise<AdapterContext> {
  const policy = networkPolicy(await storedPolicy(hub.read, workspaceId), { carriesSecret: true })
  const egress = egressOf(hub)
  return {
    clock: hub.clock,
    log: hub.log.child(logFields),
    request: (request, limits) => guardedFetch(request, { egress, policy, ...(limits && { limits }) }),
    presentedFingerprint: url => presentedFingerprint(url, { egress, policy }),
    vet: (host, port, protocol) =>
      protocol === 'udp' ? vetUdpHost(egress, host, port, policy) : egress.vetHost(host, port, policy),
  }
}
