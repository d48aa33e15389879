import { workspaces } from '../../access/tables'
import { int, text, time } from '../../core/db/columns'
import { primaryKey, table } from '../../core/db/dialect'

/** Limits that a workspace exceeds, because its plan or its overrides were lowered below its usage. */
export const planExcesses = table(
  'plan_excesses',
  {
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    limit: text('limit_name').notNull(),
    max: int('max').notNull(),
    since: time('since').notNull(),
  },
  t => [primaryKey({ columns: [t.workspaceId, t.limit] })],
)
