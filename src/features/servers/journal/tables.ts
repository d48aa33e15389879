import { json, text, time } from '../../../core/db/columns'
import { index, table } from '../../../core/db/dialect'
import { servers } from '../tables'
import { changeKinds, changeWords } from './shapes'

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
    index('inventory_changes_name').on(t.serverId, t.kind, t.name, t.at),
    index('inventory_changes_time').on(t.at),
  ],
)
