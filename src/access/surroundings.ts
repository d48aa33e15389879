import { eq } from 'drizzle-orm'
import type { Hub } from '../core/hub'
import { networkPolicy } from '../core/net/egress'
import { guardedFetch } from '../core/net/guarded-fetch'
import { egressOf } from '../core/net/hub-egress'
import type { Surroundings } from '../core/net/surroundings'
import { workspaces } from './tables'

/**
 * The world as a plug-in sees it that works for a workspace and carries its secrets, by the network policy as it is now.
 * @param named what its log lines are told apart by
 */
export async function surroundingsOf(hub: Hub, workspaceId: string, named: Record<string, string>): Promise<Surroundings> {
  const [workspace] = await hub.read
    .select({ stored: workspaces.networkPolicy })
    .from(workspaces)
    .where(eq(workspaces.id, workspaceId))
  const policy = networkPolicy(workspace!.stored, { carriesSecret: true })
  const egress = egressOf(hub)
  return {
    clock: hub.clock,
    log: hub.log.child(named),
    request: (request, limits) => guardedFetch(request, { egress, policy, ...(limits && { limits }) }),
    vet: (host, port) => egress.vetHost(host, port, policy),
  }
}
