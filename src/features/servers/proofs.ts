import type { Reader } from '../../core/db/transaction'
import { monitorStatusesOf } from '../monitors/statuses'
import type { Proofs } from './health'
import { isStale, type ServerRow } from './view'
import type { AccountState } from './accounts/view'

/** What is known about whether a server is alive, in addition to its status and power. */
export async function proofsOf(
  read: Reader,
  row: Subject,
  account: AccountState | null,
): Promise<Pick<Proofs, 'isCloudFresh' | 'isPowerMeasured' | 'monitors'>> {
  const statuses = await monitorStatusesOf(read, row.workspaceId, row.healthMonitorIds)
  return proofsBy(new Map(statuses.map(one => [one.id, one.status])), row, account)
}

type Subject = Pick<ServerRow, 'workspaceId' | 'healthMonitorIds' | 'cloud' | 'accountId'>

/** The same, with the statuses of monitors by their ids. */
export const proofsBy = (
  statuses: ReadonlyMap<string, string>,
  row: Omit<Subject, 'workspaceId'>,
  account: AccountState | null,
): Pick<Proofs, 'isCloudFresh' | 'isPowerMeasured' | 'monitors'> => ({
  isCloudFresh: row.cloud !== null && !isStale(account),
  // Only controllers tell it without a cloud, and it becomes unknown when it is too old.
  isPowerMeasured: row.accountId === null,
  // Other statuses say nothing, such as those of paused monitors.
  monitors: row.healthMonitorIds
    .map(id => statuses.get(id))
    .filter(status => status === 'up' || status === 'degraded' || status === 'down')
    .map(status => ({ isUp: status !== 'down' })),
})
