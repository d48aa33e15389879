import { json, text, time } from '../../../core/db/columns'
import { index, table, uniqueIndex } from '../../../core/db/dialect'
import { servers } from '../tables'
import { changeKinds, changeWords, journalKinds, type StoredMoment } from './shapes'

/** What was added to the inventory of servers, removed from it, or changed. */
export const inventoryChanges = table(
  'inventory_changes',
  {
    id: text('id').primaryKey(),
    serverId: text('server_id')
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    // When it was reported.
    at: time('at').notNull(),
    kind: text('kind', { enum: [...changeKinds] }).notNull(),
    change: text('change', { enum: [...changeWords] }).notNull(),
    name: text('name').notNull(),
    before: json<Record<string, unknown> | null>('before_value'),
    after: json<Record<string, unknown> | null>('after_value'),
  },
  t => [
    index('inventory_changes_server').on(t.serverId, t.at, t.id),
    index('inventory_changes_id').on(t.serverId, t.id),
    index('inventory_changes_name').on(t.serverId, t.kind, t.name, t.at),
    index('inventory_changes_time').on(t.at),
  ],
)

/** What agents noticed on servers: events, and busy moments. */
export const journalEntries = table(
  'journal_entries',
  {
    id: text('id').primaryKey(),
    serverId: text('server_id')
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    // When it happened.
    at: time('at').notNull(),
    kind: text('kind', { enum: [...journalKinds] }).notNull(),
    // Unit, container, disk, or array; empty for moments and starts.
    name: text('name').notNull(),
    detail: text('detail'),
    // Null for events.
    moment: json<StoredMoment | null>('moment'),
  },
  t => [
    // A report that is sent again adds nothing.
    uniqueIndex('journal_entries_what').on(t.serverId, t.at, t.kind, t.name),
    index('journal_entries_server').on(t.serverId, t.at, t.id),
    index('journal_entries_kind').on(t.serverId, t.kind, t.at, t.id),
    index('journal_entries_id').on(t.serverId, t.id),
    index('journal_entries_time').on(t.at),
  ],
)
