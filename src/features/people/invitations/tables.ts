import { resourceColumns, roles, type Role } from '../../../access/tables'
import { text, flag, time } from '../../../core/db/columns'
import { table, uniqueIndex, index } from '../../../core/db/dialect'

export const invitations = table(
  'invitations',
  {
    ...resourceColumns(),
    // In lowercase, like the email addresses of users.
    email: text('email').notNull(),
    role: text('role', { enum: [...roles] as [Role, ...Role[]] }).notNull(),
    codeHash: text('code_hash').notNull(),
    // Who knows the code: the user or token that created or last renewed it.
    invitedBy: text('invited_by').notNull(),
    // Whether that was the operator, whose invitations allow sign-up even if it is closed.
    byOperator: flag('by_operator').notNull(),
    expiresAt: time('expires_at').notNull(),
    acceptedAt: time('accepted_at'),
    acceptedBy: text('accepted_by'),
    // The address that the code is emailed to and the outcome; null if it is not emailed.
    sentTo: text('sent_to'),
    mailedAt: time('mailed_at'),
    mailError: text('mail_error'),
  },
  t => [uniqueIndex('invitations_code_hash').on(t.codeHash), index('invitations_workspace').on(t.workspaceId, t.id)],
)
