import { text, time } from '../db/columns'

/** The columns of a table whose rows have a signing secret. */
export const secretColumns = () => ({
  secretSealed: text('secret_sealed').notNull(),
  secretHint: text('secret_hint').notNull(),
  // During a rotation: the next secret, and when it replaces the old one. All three or none.
  nextSecretSealed: text('next_secret_sealed'),
  nextSecretHint: text('next_secret_hint'),
  rotatesAt: time('rotates_at'),
})
