import { users, workspaces } from '../../../access/tables'
import { text, time, int } from '../../../core/db/columns'
import { table, primaryKey } from '../../../core/db/dialect'

/** Secrets for one-time codes, one per user. */
export const oneTimeCodes = table('one_time_codes', {
  userId: text('user_id')
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  // The operator's workspace, whose key seals the secret: users do not belong to a single workspace.
  workspaceId: text('workspace_id')
    .notNull()
    .references(() => workspaces.id, { onDelete: 'cascade' }),
  secretSealed: text('secret_sealed').notNull(),
  // Null until the first code is confirmed.
  confirmedAt: time('confirmed_at'),
  // The last used time step (RFC 6238). This step and earlier ones cannot be used again.
  lastStep: int('last_step'),
  createdAt: time('created_at').notNull(),
})

/** Recovery codes, stored as keyed hashes. */
export const recoveryCodes = table(
  'recovery_codes',
  {
    userId: text('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    tag: text('tag').notNull(),
    usedAt: time('used_at'),
  },
  t => [primaryKey({ columns: [t.userId, t.tag] })],
)
