import { users } from '../../../access/tables'
import { editableColumns, flag, int, json, text, time } from '../../../core/db/columns'
import { table, uniqueIndex, index } from '../../../core/db/dialect'

export const passkeys = table(
  'passkeys',
  {
    id: text('id').primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    // Encoded as in WebAuthn: base64url.
    credentialId: text('credential_id').notNull(),
    publicKey: text('public_key').notNull(),
    // Signature counter of the authenticator; always 0 if it does not count.
    counter: int('counter').notNull(),
    transports: json<string[]>('transports').notNull(),
    backedUp: flag('backed_up').notNull(),
    name: text('name').notNull(),
    lastUsedAt: time('last_used_at'),
    ...editableColumns(),
  },
  t => [uniqueIndex('passkeys_credential').on(t.credentialId), index('passkeys_user').on(t.userId, t.id)],
)

/** Used WebAuthn challenges, until they expire. */
export const spentChallenges = table(
  'spent_challenges',
  { hash: text('hash').primaryKey(), expiresAt: time('expires_at').notNull() },
  t => [index('spent_challenges_expires').on(t.expiresAt)],
)
