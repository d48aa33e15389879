import { eq } from 'drizzle-orm'
import type { AuditAction } from '../../../core/audit-actions'
import type { ActionKind } from '../../actions/kind'
import { cloudAccounts } from '../accounts/tables'
import { isLabeled } from '../clouds/label-change'
import type { CloudSnapshot, SnapshotCommand } from '../clouds/cloud'
import type { CloudActionState } from '../actions/engine'
import { StorageAction, type StorageInput } from '../actions/storage-action'
import { released, seenSnapshotColumns } from './snapshot-state'
import type { SnapshotRow } from './rows'
import { snapshots } from './tables'

type SnapshotActionKind = ActionKind<StorageInput<SnapshotCommand>, CloudActionState>

const audits: Readonly<Record<SnapshotCommand['verb'], AuditAction>> = {
  create: 'cloud.snapshot.create',
  delete: 'cloud.snapshot.delete',
  set_labels: 'cloud.snapshot.update',
}

/** The kind of the actions for a verb. */
export const snapshotActionKind = (verb: SnapshotCommand['verb']): SnapshotActionKind => ({
  type: `snapshot.${verb}`,
  area: 'cloud',
  audit: audits[verb],
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
      hasEnded: (seen, command) =>
        command.verb === 'set_labels' ? isLabeled(seen.labels, command.labels) : seen.status === 'available',
      saveRef: (tx, id, ref) => tx.update(snapshots).set({ providerRef: ref }).where(eq(snapshots.id, id)),
      async save(tx, row, seen) {
        const columns = { ...released(row), ...(seen && seenSnapshotColumns(seen, null, hub.clock.now())), actionId: null }
        await tx.update(snapshots).set(columns).where(eq(snapshots.id, row.id))
      },
      remove: (tx, row) => tx.delete(snapshots).where(eq(snapshots.id, row.id)),
    }).run(),
})

export const snapshotActionKinds = (['create', 'delete', 'set_labels'] as const).map(snapshotActionKind)
