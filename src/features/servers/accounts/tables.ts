import { sql } from 'drizzle-orm'
import { accountColumns, checkColumns } from '../../../adapters/accounts/columns'
import { int, json, text, time } from '../../../core/db/columns'
import { index, table, uniqueIndex } from '../../../core/db/dialect'
import { memberColumns } from '../../../core/members'
import type { Catalog, CloudFailure, Reading, ServerVerb } from '../clouds/cloud'
import { cloudAccountMembers } from './shapes'

/** Accounts at clouds, and how to reach them. */
export const cloudAccounts = table(
  'cloud_accounts',
  {
    ...accountColumns(),
    ...checkColumns<CloudFailure>(),
    ...memberColumns(cloudAccountMembers),
    // When the last complete reading started; null if there was none.
    syncedAt: time('synced_at'),
    // When volumes and snapshots were read last; null if they never were.
    storageSyncedAt: time('storage_synced_at'),
    // When servers are read next; null while the account has not been checked.
    nextSyncAt: time('next_sync_at'),
    syncFailures: int('sync_failures').notNull(),
    syncError: json<{ code: CloudFailure; detail: string } | null>('sync_error'),
    rate: json<Reading['rate']>('rate'),
    // Number of servers in the account that are not in the workspace.
    unclaimed: int('unclaimed').notNull(),
    // What they cost per month, in millionths.
    unclaimedMicros: int('unclaimed_micros').notNull(),
    // Refs of servers that were removed here but not at the cloud, so that they aren’t added again.
    ignoredRefs: json<string[]>('ignored_refs').notNull(),
    // Actions that the cloud lacks, such as an old version.
    lacks: json<ServerVerb[]>('lacks').notNull(),
  },
  t => [
    uniqueIndex('cloud_accounts_name').on(t.workspaceId, t.name),
    index('cloud_accounts_workspace').on(t.workspaceId, t.id),
    index('cloud_accounts_next_sync')
      .on(t.nextSyncAt)
      .where(sql`next_sync_at is not null`),
  ],
)

/** What accounts offer, as last read. */
export const cloudCatalogs = table('cloud_catalogs', {
  accountId: text('account_id')
    .primaryKey()
    .references(() => cloudAccounts.id, { onDelete: 'cascade' }),
  catalog: json<Catalog>('catalog').notNull(),
  readAt: time('read_at').notNull(),
})
