import { sql } from 'drizzle-orm'
import { resourceColumns } from '../../../access/tables'
import { flag, json, text, time } from '../../../core/db/columns'
import { index, table } from '../../../core/db/dialect'
import { memberColumns } from '../../../core/members'
import { storageColumns } from '../storage-tables'
import { volumes } from '../volumes/tables'
import { snapshotMembers, snapshotStates, type SnapshotCreator } from './shapes'

/** Snapshots of servers and of volumes. */
export const snapshots = table(
  'snapshots',
  {
    ...resourceColumns(),
    ...memberColumns(snapshotMembers),
    ...storageColumns(),
    // The volume, for a snapshot of one. It is deleted with it.
    volumeId: text('volume_id').references(() => volumes.id, { onDelete: 'cascade' }),
    state: text('state', { enum: [...snapshotStates] }).notNull(),
    // The policy that created it. It may have been deleted.
    policyId: text('policy_id'),
    createdBy: json<SnapshotCreator | null>('made_by'),
    includesMemory: flag('includes_memory').notNull(),
    survivesServer: flag('survives_server').notNull(),
    takenAt: time('taken_at'),
    expiresAt: time('expires_at'),
  },
  t => [
    index('snapshots_workspace').on(t.workspaceId, t.id),
    index('snapshots_name').on(t.workspaceId, t.name, t.id),
    index('snapshots_created').on(t.workspaceId, t.createdAt, t.id),
    index('snapshots_state').on(t.workspaceId, t.state, t.id),
    index('snapshots_server').on(t.workspaceId, t.serverId, t.id),
    index('snapshots_account').on(t.workspaceId, t.accountId, t.id),
    index('snapshots_origin').on(t.workspaceId, t.origin, t.id),
    index('snapshots_ref').on(t.accountId, t.providerRef),
    index('snapshots_of_server').on(t.serverId),
    index('snapshots_volume').on(t.workspaceId, t.volumeId, t.id),
    index('snapshots_of_volume').on(t.volumeId),
    index('snapshots_of_policy')
      .on(t.policyId)
      .where(sql`policy_id is not null`),
    index('snapshots_expiry')
      .on(t.expiresAt)
      .where(sql`expires_at is not null`),
    index('snapshots_busy')
      .on(t.actionId)
      .where(sql`action_id is not null`),
  ],
)
