import type { Reader } from '../../core/db/transaction'
import { monitorStatusesOf } from '../monitors/statuses'
import type { Proofs } from './health'
import { isStale, type ServerRow } from './view'
import type { AccountState } from './accounts/view'

/** What is known about whether a server is alive, in addition to its status and power. */
export async function proofsOf(
  read: Reader,
  row: Pick<ServerRow, 'workspaceId' | 'healthMonitorIds' | 'cloud'>,
  account: AccountState | null,
): Promise<Pick<Proofs, 'isCloudFresh' | 'monitors'>> {
  const bound = await monitorStatusesOf(read, row.workspaceId, row.healthMonitorIds)
  return {
    isCloudFresh: row.cloud !== null && !isStale(account),
    // Other statuses say nothing, such as those of paused monitors.
    monitors: bound
      .filter(one => one.status === 'up' || one.status === 'degraded' || one.status === 'down')
      .map(({ name, status }) => ({ name, isUp: status !== 'down' })),
  }
}
