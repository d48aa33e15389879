import { sql } from 'drizzle-orm'
import { resourceColumns } from '../../../access/tables'
import { flag, int, json, text, time } from '../../../core/db/columns'
import { index, table } from '../../../core/db/dialect'
import { memberColumns } from '../../../core/members'
import { cloudAccounts } from '../accounts/tables'
import { storageOrigins } from '../storage-shapes'
import { servers } from '../tables'
import { snapshotMembers, snapshotStates, type SnapshotMaker } from './shapes'

/** The columns of what is stored in cloud accounts in addition to servers. */
export const storageColumns = () => ({
  accountId: text('account_id')
    .notNull()
    .references(() => cloudAccounts.id, { onDelete: 'cascade' }),
  serverId: text('server_id').references(() => servers.id, { onDelete: 'set null' }),
  // Id at the cloud; null until it exists there.
  providerRef: text('provider_ref'),
  origin: text('origin', { enum: [...storageOrigins] }).notNull(),
  sizeBytes: int('size_bytes'),
  // Price per month in millionths; null if not known. Set from the order until it exists.
  priceMicros: int('price_micros'),
  priceCurrency: text('price_currency'),
  priceAt: time('price_at'),
  // The action that works on it.
  actionId: text('action_id'),
  // When an action or a reading last wrote its state. Readings that started before are ignored.
  writtenAt: time('written_at').notNull(),
})

/** Snapshots of servers. */
export const snapshots = table(
  'snapshots',
  {
    ...resourceColumns(),
    ...memberColumns(snapshotMembers),
    ...storageColumns(),
    state: text('state', { enum: [...snapshotStates] }).notNull(),
    // The policy that created it. It may have been deleted.
    policyId: text('policy_id'),
    madeBy: json<SnapshotMaker | null>('made_by'),
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
