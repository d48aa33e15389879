import { workspaces } from '../../../access/tables'
import { flag, int, json, text, time } from '../../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../../core/db/dialect'
import type { TsigAlgorithm } from '../../../dns/tsig'

/** TSIG keys of other name servers. */
export const dnsTsigKeys = table(
  'dns_tsig_keys',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    // In lower case, without the trailing dot.
    name: text('name').notNull(),
    algorithm: text('algorithm').$type<TsigAlgorithm>().notNull(),
    // Base64, as in name server configurations.
    secretSealed: text('secret_sealed').notNull(),
    createdAt: time('created_at').notNull(),
  },
  t => [
    // Unique per installation: requests carry only the key name.
    uniqueIndex('dns_tsig_keys_name').on(t.name),
    index('dns_tsig_keys_workspace').on(t.workspaceId, t.id),
  ],
)

/** Zone transfer settings of a workspace; no row until they are changed. */
export const dnsServing = table(
  'dns_serving',
  {
    workspaceId: text('workspace_id')
      .primaryKey()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    // Keys that may transfer all zones; null for all keys of the workspace.
    transferKeyIds: json<string[] | null>('transfer_key_ids'),
    catalogEnabled: flag('catalog_enabled').notNull(),
    // In lower case, without the trailing dot.
    catalogName: text('catalog_name').notNull(),
    catalogKeyId: text('catalog_key_id'),
    // Increases when zones are added or removed (RFC 1982).
    catalogSerial: int('catalog_serial').notNull(),
    version: int('version').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [uniqueIndex('dns_serving_catalog').on(t.catalogName)],
)

/** Secondary name servers. */
export const dnsSecondaries = table(
  'dns_secondaries',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    // IP address or hostname.
    address: text('address').notNull(),
    port: int('port').notNull(),
    keyId: text('key_id'),
    // Result of the last NOTIFY; `error` is null if it succeeded.
    notifiedAt: time('notified_at'),
    acknowledgedAt: time('acknowledged_at'),
    error: text('error'),
    createdAt: time('created_at').notNull(),
  },
  t => [index('dns_secondaries_workspace').on(t.workspaceId, t.id)],
)

/** Last transfer per zone, address and key. Servers behind one address have different keys. */
export const dnsTransfers = table(
  'dns_transfers',
  {
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    // Without the trailing dot.
    zone: text('zone').notNull(),
    address: text('address').notNull(),
    keyId: text('key_id').notNull(),
    serial: int('serial').notNull(),
    type: text('type', { enum: ['axfr', 'ixfr', 'up_to_date'] }).notNull(),
    transferredAt: time('transferred_at').notNull(),
  },
  t => [primaryKey({ columns: [t.workspaceId, t.zone, t.address, t.keyId] }), index('dns_transfers_at').on(t.transferredAt)],
)
