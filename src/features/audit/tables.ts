import { workspaces } from '../../access/tables'
import { flag, int, json, text, time } from '../../core/db/columns'
import { index, table } from '../../core/db/dialect'
import { secretColumns } from '../../core/outgoing/secret-columns'

/** Receivers of the audit log of a workspace, and their positions. */
export const auditStreams = table(
  'audit_streams',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    url: text('url').notNull(),
    // Actions and prefixes such as `heartbeat.*`; null for all.
    actions: json<string[] | null>('actions'),
    active: flag('active').notNull(),
    // The next secret is kept until the next rotation.
    ...secretColumns(),
    // Entries up to this number were delivered or filtered out.
    position: int('position').notNull(),
    // Number of the last delivered checkpoint.
    checkpoint: int('checkpoint').notNull(),
    // End of the failed message: the next attempt sends the same bytes.
    retryPosition: int('retry_position'),
    retryCheckpoint: int('retry_checkpoint'),
    failedAttempts: int('failed_attempts').notNull(),
    failingSince: time('failing_since'),
    nextAttemptAt: time('next_attempt_at'),
    lastSuccessAt: time('last_success_at'),
    lastError: text('last_error'),
    // The run that is sending, and until when it has the stream exclusively.
    sender: text('sender'),
    senderUntil: time('sender_until'),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [index('audit_streams_workspace').on(t.workspaceId, t.id)],
)
