import type { Reader } from '../core/db/transaction'
import type { Hub } from '../core/hub'
import type { LimitName } from './limit-table'
import { workspaces } from './tables'
import { limitsOf } from './workspaces'

const dayMs = 86_400_000

/**
 * Deletes data past its retention, workspace by workspace.
 * @param limit the plan limit with the retention in days; without a limit, data is kept forever
 * @param prune deletes some data older than `before` (ms UTC) and returns how much; called until it returns 0
 */
export async function pruneByPlan(
  hub: Hub,
  limit: LimitName & `${string}_days`,
  prune: (workspaceId: string, before: number) => Promise<number>,
): Promise<void> {
  for (const workspaceId of await allWorkspaces(hub.read)) {
    const days = (await limitsOf(hub.read, workspaceId))[limit]
    if (days === null) continue
    while ((await prune(workspaceId, hub.clock.now() - days * dayMs)) > 0) continue
  }
}

/** The longest retention in days among the plans of all workspaces; null if one has no limit. */
export async function longestRetentionDays(hub: Hub, limit: LimitName & `${string}_days`): Promise<number | null> {
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
