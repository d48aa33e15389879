import { jobContext, systemActor } from '../core/change'
import type { Ctx } from '../core/ctx'
import type { Hub } from '../core/hub'
import { expandPermissions } from '../core/permissions'
import { planOf } from './workspaces'

/** The context of a background task that does in a workspace what its users can request, within the limits of its plan. */
export async function systemContext(hub: Hub, workspaceId: string, task: string): Promise<Ctx> {
  return {
    ...{ hub, workspaceId, sessionId: null, actor: systemActor(task), context: jobContext },
    ...{ permissions: expandPermissions([]), resourceIds: null, operator: false, ifMatch: null, idempotency: null },
    ...(await planOf(hub.read, workspaceId)),
  }
}
