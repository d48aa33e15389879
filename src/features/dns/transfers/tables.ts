import { workspaces } from '../../../access/tables'
import { flag, int, json, text, time } from '../../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../../core/db/dialect'
import type { TsigAlgorithm } from '../../../core/dns/tsig'

/** Keys that other name servers sign with. */
export const dnsTsigKeys = table(
  'dns_tsig_keys',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    // In lower case, without the dot at the end.
    name: text('name').notNull(),
    algorithm: text('algorithm').$type<TsigAlgorithm>().notNull(),
    // Base64, as configurations of name servers have it.
    secretSealed: text('secret_sealed').notNull(),
    createdAt: time('created_at').notNull(),
  },
  t => [
    // A server sees the name of a key and nothing of whose it is.
    uniqueIndex('dns_tsig_keys_name').on(t.name),
    index('dns_tsig_keys_workspace').on(t.workspaceId, t.id),
  ],
)

/** How the built-in name server gives the zones of a workspace to others; none until somebody sets it. */
export const dnsServing = table(
  'dns_serving',
  {
    workspaceId: text('workspace_id')
      .primaryKey()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    // Keys that may transfer every zone; null for all of the workspace.
    transferKeyIds: json<string[] | null>('transfer_key_ids'),
    catalogEnabled: flag('catalog_enabled').notNull(),
    // In lower case, without the dot at the end.
    catalogName: text('catalog_name').notNull(),
    catalogKeyId: text('catalog_key_id'),
    // Moves whenever a zone begins or ceases to be served (RFC 1982).
    catalogSerial: int('catalog_serial').notNull(),
    version: int('version').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [uniqueIndex('dns_serving_catalog').on(t.catalogName)],
)

/** Name servers that are told when a zone changed. */
export const dnsSecondaries = table(
  'dns_secondaries',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    // An address or a host name.
    address: text('address').notNull(),
    port: int('port').notNull(),
    keyId: text('key_id'),
    // What came of the last NOTIFY: null in the last for an answer without error.
    notifiedAt: time('notified_at'),
    answeredAt: time('answered_at'),
    problem: text('problem'),
    createdAt: time('created_at').notNull(),
  },
  t => [index('dns_secondaries_workspace').on(t.workspaceId, t.id)],
)

/** The last transfer of each zone to each address by each key: servers at one address have keys of their own. */
export const dnsTransfers = table(
  'dns_transfers',
  {
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    // Without the dot at the end.
    zone: text('zone').notNull(),
    address: text('address').notNull(),
    keyId: text('key_id').notNull(),
    serial: int('serial').notNull(),
    how: text('how', { enum: ['axfr', 'ixfr', 'current'] }).notNull(),
    at: time('at').notNull(),
  },
  t => [primaryKey({ columns: [t.workspaceId, t.zone, t.address, t.keyId] }), index('dns_transfers_at').on(t.at)],
)
