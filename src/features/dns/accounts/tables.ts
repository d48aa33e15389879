import { workspaces } from '../../../access/tables'
import { int, json, text, time } from '../../../core/db/columns'
import { index, table, uniqueIndex } from '../../../core/db/dialect'
import type { ProviderFailure } from '../providers/provider'

export const providerStates = ['ok', 'failing', 'unknown'] as const

/** Where zones are kept beside the name server of the hub, and how a workspace gets there. */
export const dnsProviders = table(
  'dns_providers',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    kind: text('kind').notNull(),
    name: text('name').notNull(),
    // What the kind wants to be told, but for its secrets.
    settings: json<Record<string, unknown>>('settings').notNull(),
    // JSON of name and value, sealed as one; null when there are none.
    secretsSealed: text('secrets_sealed'),
    secretNames: json<string[]>('secret_names').notNull(),
    state: text('state', { enum: [...providerStates] }).notNull(),
    // What the last check that succeeded found.
    detail: text('detail'),
    warnings: json<string[]>('warnings').notNull(),
    failuresInARow: int('failures_in_a_row').notNull(),
    lastCheckedAt: time('last_checked_at'),
    lastOkAt: time('last_ok_at'),
    lastError: json<{ failure: ProviderFailure; detail: string } | null>('last_error'),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [uniqueIndex('dns_providers_name').on(t.workspaceId, t.name), index('dns_providers_workspace').on(t.workspaceId, t.id)],
)
