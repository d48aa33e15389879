import { workspaces } from '../../access/tables'
import { flag, int, json, text, time } from '../../core/db/columns'
import { index, table } from '../../core/db/dialect'

/** Receivers of the audit log of a workspace, and how far each has it. */
export const auditStreams = table(
  'audit_streams',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    url: text('url').notNull(),
    // Words, and prefixes such as `heartbeat.*`; null lets every action through.
    actions: json<string[] | null>('actions'),
    active: flag('active').notNull(),
    secretSealed: text('secret_sealed').notNull(),
    secretHint: text('secret_hint').notNull(),
    // While a rotation overlaps, and after it until the next: all three or none.
    nextSecretSealed: text('next_secret_sealed'),
    nextSecretHint: text('next_secret_hint'),
    rotatesAt: time('rotates_at'),
    // Entries up to this number were taken by the receiver or are none of its own.
    position: int('position').notNull(),
    // Number of the last checkpoint that the receiver has.
    checkpoint: int('checkpoint').notNull(),
    // What the try that failed went up to: the next one sends the same bytes.
    retryPosition: int('retry_position'),
    retryCheckpoint: int('retry_checkpoint'),
    failedAttempts: int('failed_attempts').notNull(),
    failingSince: time('failing_since'),
    nextAttemptAt: time('next_attempt_at'),
    lastSuccessAt: time('last_success_at'),
    lastError: text('last_error'),
    // Who sends at this moment, and until when nobody else may.
    sender: text('sender'),
    senderUntil: time('sender_until'),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [index('audit_streams_workspace').on(t.workspaceId, t.id)],
)
