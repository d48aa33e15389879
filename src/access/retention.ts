import type { Reader } from '../core/db/transaction'
import type { Hub } from '../core/hub'
import { workspaces, type PlanLimits } from './tables'
import { limitsOf } from './workspaces'

const dayMs = 86_400_000

/**
 * Deletes what is past its time, workspace by workspace.
 * @param limit how many days the plan keeps it; a plan without that limit keeps it for ever
 * @param prune deletes some of what is older than `before` (ms UTC) and returns how much; called until it returns 0
 */
export async function pruneByPlan(
  hub: Hub,
  limit: keyof PlanLimits & `${string}_days`,
  prune: (workspaceId: string, before: number) => Promise<number>,
): Promise<void> {
  for (const workspaceId of await allWorkspaces(hub.read)) {
    const days = (await limitsOf(hub.read, workspaceId))[limit]
    if (days === null) continue
    while ((await prune(workspaceId, hub.clock.now() - days * dayMs)) > 0) continue
  }
}

/** How many days the plan of any workspace keeps it at most; null where one keeps it for ever. */
export async function longestByPlan(hub: Hub, limit: keyof PlanLimits & `${string}_days`): Promise<number | null> {
  let longest = 0
  for (const workspaceId of await allWorkspaces(hub.read)) {
    const days = (await limitsOf(hub.read, workspaceId))[limit]
    if (days === null) return null
    longest = Math.max(longest, days)
  }
  return longest
}

async function allWorkspaces(read: Reader): Promise<string[]> {
  return (await read.select({ id: workspaces.id }).from(workspaces)).map(row => row.id)
}
