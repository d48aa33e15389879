import type { Followed } from '../accounts/followed'
import type { CloudSnapshot } from '../clouds/cloud'
import { cloudKindOf } from '../clouds'
import { snapshotRows, type SnapshotRow } from './rows'
import { seenSnapshotColumns } from './snapshot-state'

/** Snapshots at a cloud. Those of servers that are not in the workspace are only added if the account adds everything. */
export const followedSnapshots: Followed<SnapshotRow, CloudSnapshot> = {
  type: 'snapshot',
  rows: snapshotRows,
  limit: 'snapshots',
  storage: cloud => cloud.snapshots,
  columns: (seen, { catalog, now, serverIds }) => ({
    ...seenSnapshotColumns(seen, catalog, now),
    serverId: serverIds.get(seen.serverRef ?? '') ?? null,
  }),
  added(seen, { account, catalog, now, serverIds }) {
    const serverId = serverIds.get(seen.serverRef ?? '') ?? null
    if (serverId === null && account.import.mode !== 'all') return null
    return {
      ...{ priceMicros: null, priceCurrency: null, priceAt: null },
      ...seenSnapshotColumns(seen, catalog, now),
      ...{ name: seen.name.slice(0, 100), labels: {}, protected: false, accountId: account.id, serverId, origin: 'found' },
      ...{ madeBy: null, policyId: null, survivesServer: cloudKindOf(account.kind)!.capabilities.snapshots!.surviveServer },
      ...{ expiresAt: null, actionId: null },
    }
  },
}
