import type { Reader } from '../../core/db/transaction'
import { monitorsOfServers, monitorStatusesOf } from '../monitors/statuses'
import { agentsOf, type AgentRow } from './agents/rows'
import type { OtherProofs } from './health'
import { isStale, type ServerRow } from './view'
import type { AccountState } from './accounts/view'

/** What is known about whether a server is alive, in addition to its status and power. */
export async function proofsOf(read: Reader, row: Subject, account: AccountState | null): Promise<OtherProofs> {
  const statuses = await proofStatuses(read, row.workspaceId, row.healthMonitorIds)
  const agent = (await agentsOf(read, [row])).get(row.id)
  return proofsBy(statuses, row, account, agent)
}

/** Statuses of monitors by their ids, without those that follow from the health of servers. @param workspaceId null for all workspaces */
export async function proofStatuses(
  read: Reader,
  workspaceId: string | null,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const statuses = await monitorStatusesOf(read, workspaceId, ids)
  const following = statuses.length === 0 ? new Set() : await monitorsOfServers(read, ids)
  return new Map(statuses.filter(one => !following.has(one.id)).map(one => [one.id, one.status]))
}

type Subject = Pick<ServerRow, 'id' | 'workspaceId' | 'healthMonitorIds' | 'cloud' | 'accountId'>

/** The same, with the statuses of monitors by their ids, and with the agent of the server. */
export const proofsBy = (
  statuses: ReadonlyMap<string, string>,
  row: Omit<Subject, 'id' | 'workspaceId'>,
  account: AccountState | null,
  agent: AgentRow | undefined,
): OtherProofs => ({
  isCloudFresh: row.cloud !== null && !isStale(account),
  // Only controllers tell it without a cloud, and it becomes unknown when it is too old.
  isPowerMeasured: row.accountId === null,
  // Other statuses say nothing, such as those of paused monitors.
  monitors: row.healthMonitorIds
    .map(id => statuses.get(id))
    .filter(status => status === 'up' || status === 'degraded' || status === 'down')
    .map(status => ({ isUp: status !== 'down' })),
  agent: agent ? { state: agent.disconnected ? 'disconnected' : agent.state, lastSeenAt: agent.lastSeenAt } : null,
})
