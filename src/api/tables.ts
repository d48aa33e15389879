import { tokens, workspaces } from '../access/tables'
import { int, text, time } from '../core/db/columns'
import { index, primaryKey, table } from '../core/db/dialect'

/** How often tokens used deprecated parts; the subject is `Deprecated.id`. */
export const deprecationUses = table(
  'deprecation_uses',
  {
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    tokenId: text('token_id')
      .notNull()
      .references(() => tokens.id, { onDelete: 'cascade' }),
    subject: text('subject').notNull(),
    uses: int('uses').notNull(),
    lastUsedAt: time('last_used_at').notNull(),
  },
  t => [primaryKey({ columns: [t.tokenId, t.subject] }), index('deprecation_uses_workspace').on(t.workspaceId)],
)
