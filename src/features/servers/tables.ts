import { sql } from 'drizzle-orm'
import { resourceColumns } from '../../access/tables'
import { int, json, text, time } from '../../core/db/columns'
import { index, table } from '../../core/db/dialect'
import { memberColumns } from '../../core/members'
import { cloudAccounts } from './accounts/tables'
import type { CloudServer, ServerAddress } from './clouds/cloud'
import { labelTable } from './label-tables'
import {
  factSources,
  powerStates,
  serverHealths,
  serverKinds,
  serverMembers,
  serverOrigins,
  serverStatuses,
  type ServerOrderView,
} from './shapes'

export const servers = table(
  'servers',
  {
    ...resourceColumns(),
    ...memberColumns(serverMembers),
    kind: text('kind', { enum: [...serverKinds] }).notNull(),
    origin: text('origin', { enum: [...serverOrigins] }).notNull(),
    accountId: text('account_id').references(() => cloudAccounts.id, { onDelete: 'cascade' }),
    // Id at the cloud; null until it exists there.
    providerRef: text('provider_ref'),
    status: text('status', { enum: [...serverStatuses] }).notNull(),
    statusSince: time('status_since').notNull(),
    health: text('health', { enum: [...serverHealths] }).notNull(),
    healthSince: time('health_since').notNull(),
    healthReason: text('health_reason').notNull(),
    healthSource: text('health_source', { enum: [...factSources] }),
    // Health of the last event; null if there was none.
    toldHealth: text('told_health', { enum: ['up', 'down'] }),
    power: text('power', { enum: [...powerStates] }).notNull(),
    location: text('location'),
    image: text('image'),
    // As the cloud last reported it; null without a cloud.
    cloud: json<CloudServer>('cloud'),
    // Keys of labels that were removed here, until they are removed at the cloud.
    removedLabels: json<string[]>('removed_labels').notNull(),
    // Addresses entered manually, for servers without a cloud account.
    manualAddresses: json<ServerAddress[]>('manual_addresses').notNull(),
    // What to order; null unless it is a draft or being created.
    order: json<ServerOrderView>('order_details'),
    userDataSealed: text('user_data_sealed'),
    // Price per month in millionths; null if not known. Set from the order until the server exists.
    priceMicros: int('price_micros'),
    priceCurrency: text('price_currency'),
    priceAt: time('price_at'),
    // The action that works on it.
    actionId: text('action_id'),
    // Until when nothing is concluded about its health, because an action took it down.
    quietUntil: time('quiet_until'),
    // When an action or a reading last wrote its state. Readings that started before are ignored.
    writtenAt: time('written_at').notNull(),
    deletedAt: time('deleted_at'),
  },
  t => [
    index('servers_workspace').on(t.workspaceId, t.id),
    index('servers_name').on(t.workspaceId, t.name, t.id),
    index('servers_created').on(t.workspaceId, t.createdAt, t.id),
    index('servers_status').on(t.workspaceId, t.status, t.id),
    index('servers_health').on(t.workspaceId, t.health, t.id),
    index('servers_power').on(t.workspaceId, t.power, t.id),
    index('servers_kind').on(t.workspaceId, t.kind, t.id),
    index('servers_origin').on(t.workspaceId, t.origin, t.id),
    index('servers_location').on(t.workspaceId, t.location, t.id),
    index('servers_account').on(t.workspaceId, t.accountId, t.id),
    index('servers_ref').on(t.accountId, t.providerRef),
    index('servers_deleted')
      .on(t.deletedAt)
      .where(sql`deleted_at is not null`),
    index('servers_quiet')
      .on(t.quietUntil)
      .where(sql`quiet_until is not null`),
    index('servers_busy')
      .on(t.actionId)
      .where(sql`action_id is not null`),
    index('servers_monitored')
      .on(t.id)
      .where(sql`health_monitor_ids <> '[]'`),
  ],
)

export const serverLabels = labelTable('server_labels', () => servers.id)

/** Changes of status, health, and power. */
export const serverTransitions = table(
  'server_transitions',
  {
    id: text('id').primaryKey(),
    serverId: text('server_id')
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    at: time('at').notNull(),
    field: text('field', { enum: ['status', 'health', 'power'] }).notNull(),
    before: text('before_value'),
    after: text('after_value').notNull(),
    source: text('source', { enum: [...factSources] }).notNull(),
    reason: text('reason').notNull(),
  },
  t => [index('server_transitions_server').on(t.serverId, t.id), index('server_transitions_time').on(t.at)],
)
