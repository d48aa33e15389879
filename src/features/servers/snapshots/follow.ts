import type { Followed, ReadAccount } from '../accounts/followed'
import type { CloudSnapshot } from '../clouds/cloud'
import { cloudKindOf } from '../clouds'
import { isLabeled } from '../clouds/label-change'
import { hasLostMark } from '../clouds/lost-mark'
import { snapshotActionKind } from './kinds'
import { snapshotRows, type SnapshotRow } from './rows'
import { seenSnapshotColumns } from './snapshot-state'

/** Snapshots at a cloud. Those of servers that are not in the workspace are only added if the account adds everything. */
export const followedSnapshots: Followed<SnapshotRow, CloudSnapshot> = {
  type: 'snapshot',
  rows: snapshotRows,
  limit: 'snapshots',
  storage: cloud => cloud.snapshots,
  columns: (seen, read) => ({ ...seenSnapshotColumns(seen, read.catalog, read.now), ...ownerOf(seen, read) }),
  // What a cloud changes of a snapshot is that it was finished.
  recorded: () => ({}),
  relabeling(row, seen, kind) {
    if (row.origin !== 'made' || !cloudKindOf(kind)!.capabilities.snapshots!.labels) return null
    const labels = { set: row.labels, remove: [] }
    if (isLabeled(seen.labels, labels) && !hasLostMark(row.id, seen, kind)) return null
    return { action: snapshotActionKind('set_labels'), input: { command: { verb: 'set_labels', labels, mark: row.id } } }
  },
  added(seen, read) {
    const { account, catalog, now } = read
    const { serverId, volumeId } = ownerOf(seen, read)
    if (serverId === null && volumeId === null && account.import.mode !== 'all') return null
    return {
      ...{ priceMicros: null, priceCurrency: null, priceAt: null },
      ...seenSnapshotColumns(seen, catalog, now),
      ...{
        name: seen.name.slice(0, 100),
        labels: {},
        protected: false,
        accountId: account.id,
        serverId,
        volumeId,
        origin: 'found',
      },
      ...{
        createdBy: null,
        policyId: null,
        survivesServer: seen.volumeRef === null && cloudKindOf(account.kind)!.capabilities.snapshots!.surviveServer,
      },
      ...{ expiresAt: null, actionId: null },
    }
  },
}

/** The server or volume in the workspace that a snapshot was created from. */
const ownerOf = ({ serverRef, volumeRef }: CloudSnapshot, { serverIds, volumeIds }: ReadAccount) => ({
  serverId: serverIds.get(serverRef ?? '') ?? null,
  volumeId: volumeIds.get(volumeRef ?? '') ?? null,
})
