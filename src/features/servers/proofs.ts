import type { Reader } from '../../core/db/transaction'
import { monitorStatusesOf } from '../monitors/statuses'
import type { Proofs } from './health'
import { isStale, type ServerRow } from './view'
import type { AccountState } from './accounts/view'

/** What is known about whether a server is alive, in addition to its status and power. */
export async function proofsOf(
  read: Reader,
  row: Pick<ServerRow, 'workspaceId' | 'healthMonitorIds' | 'cloud' | 'accountId'>,
  account: AccountState | null,
): Promise<Pick<Proofs, 'isCloudFresh' | 'isPowerMeasured' | 'monitors'>> {
  const bound = await monitorStatusesOf(read, row.workspaceId, row.healthMonitorIds)
  return {
    isCloudFresh: row.cloud !== null && !isStale(account),
    // Only controllers tell it without a cloud, and it becomes unknown when it is too old.
    isPowerMeasured: row.accountId === null,
    // Other statuses say nothing, such as those of paused monitors.
    monitors: bound
      .filter(one => one.status === 'up' || one.status === 'degraded' || one.status === 'down')
      .map(({ name, status }) => ({ name, isUp: status !== 'down' })),
  }
}
