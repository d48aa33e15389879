import type { Hub } from '../../core/hub'
import { tlsTargets } from '../monitors/tls-targets'
import { followingEndpoints, followTargets } from './following'

/**
 * Creates endpoints for the servers that monitors connect to with TLS, and deletes those whose monitors are gone. Endpoints of other
 * origins are left as they are.
 */
export async function gatherEndpoints(hub: Hub): Promise<void> {
  // In this order, so that the monitors of all known endpoints are read.
  const known = Map.groupBy(await followingEndpoints(hub.read, 'monitor'), one => one.workspaceId)
  const wanted = Map.groupBy(await tlsTargets(hub.read), one => one.workspaceId)
  for (const workspaceId of new Set([...wanted.keys(), ...known.keys()]))
    await followTargets(hub, wanted.get(workspaceId) ?? [], known.get(workspaceId) ?? [], {
      ...{ workspaceId, origin: 'monitor', task: 'gather-endpoints', whenGone: 'No monitor checks it anymore.' },
    })
}
