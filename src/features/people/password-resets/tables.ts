import { users } from '../../../access/tables'
import { text, time } from '../../../core/db/columns'
import { table, index } from '../../../core/db/dialect'

/** Password reset links, stored by the hash of their code. */
export const passwordResets = table(
  'password_resets',
  {
    codeHash: text('code_hash').primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    createdAt: time('created_at').notNull(),
    expiresAt: time('expires_at').notNull(),
  },
  t => [index('password_resets_user').on(t.userId), index('password_resets_expires').on(t.expiresAt)],
)
