import { operatorWorkspace } from '../../access/workspaces'
import { record } from '../../core/change'
import type { Config } from '../../core/config'
import type { Hub } from '../../core/hub'
import { insertHeartbeat } from '../../features/heartbeats/heartbeats'
import { createTokenAsOperator } from '../../features/tokens/commands'
import { openHub } from '../../hub/run'

/** Creates heartbeats and tokens. */
export async function seed(
  config: Config,
  heartbeats: number,
): Promise<{ readToken: string; fullToken: string; workspaceId: string; uuids: string[] }> {
  const hub = await openHub(config)
  try {
    const workspaceId = (await operatorWorkspace(hub.read)).id
    const uuids = await addHeartbeats(hub, workspaceId, heartbeats)
    const token = (mode: 'full' | 'read_only') =>
      createTokenAsOperator(hub, { workspaceId, name: mode, mode, permissions: [], expiresAt: null })
    return { readToken: await token('read_only'), fullToken: await token('full'), workspaceId, uuids }
  } finally {
    await hub.store.close()
  }
}

/** Creates heartbeats. @returns their UUIDs */
export async function addHeartbeats(hub: Hub, workspaceId: string, heartbeats: number): Promise<string[]> {
  const uuids: string[] = []
  for (let start = 0; start < heartbeats; start += 1000) {
    await record(hub, async tx => {
      for (let n = start; n < Math.min(start + 1000, heartbeats); n++) {
        const { uuid } = await insertHeartbeat(
          tx,
          { hub, workspaceId },
          { name: `job ${n}`, tags: ['bench'], schedule: { kind: 'period', period_seconds: 86_400, grace_seconds: 3600 } },
        )
        uuids.push(uuid)
      }
      return { result: undefined }
    })
  }
  return uuids
}
