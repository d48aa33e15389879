import { eq } from 'drizzle-orm'
import type { ActionKind } from '../../actions/kind'
import { cloudAccounts } from '../accounts/tables'
import type { CloudSnapshot, SnapshotCommand } from '../clouds/cloud'
import type { CloudActionState } from '../actions/engine'
import { StorageAction, type StorageInput } from '../actions/storage-action'
import { released, seenSnapshotColumns } from './snapshot-state'
import type { SnapshotRow } from './rows'
import { snapshots } from './tables'

/** Deletes a snapshot at its cloud. */
export const deleteSnapshotAction: ActionKind<StorageInput<SnapshotCommand>, CloudActionState> = {
  type: 'snapshot.delete',
  area: 'cloud',
  audit: 'cloud.snapshot.delete',
  cancelable: false,
  resumable: true,
  concurrency: 32,
  leaseMs: 300_000,
  run: (hub, work) =>
    new StorageAction<SnapshotRow, CloudSnapshot, SnapshotCommand>(hub, work, {
      noun: 'snapshot',
      storage: cloud => cloud.snapshots!,
      async load(id) {
        const [found] = await hub.read
          .select({ row: snapshots, account: cloudAccounts })
          .from(snapshots)
          .innerJoin(cloudAccounts, eq(cloudAccounts.id, snapshots.accountId))
          .where(eq(snapshots.id, id))
        return found ?? null
      },
      hasEnded: () => true,
      async save(tx, row, seen) {
        const columns = { ...released(row), ...(seen && seenSnapshotColumns(seen, null, hub.clock.now())) }
        await tx.update(snapshots).set(columns).where(eq(snapshots.id, row.id))
      },
      remove: (tx, row) => tx.delete(snapshots).where(eq(snapshots.id, row.id)),
    }).run(),
}
