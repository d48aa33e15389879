import { resourceColumns } from '../../access/tables'
import { int, text, time } from '../../core/db/columns'
import { index, table } from '../../core/db/dialect'
import { memberColumns } from '../../core/members'
import { secretColumns } from '../../core/outgoing/secret-columns'
import { streamMembers } from './stream-shapes'

/** Receivers of the audit log of a workspace, and their positions. */
export const auditStreams = table(
  'audit_streams',
  {
    ...resourceColumns(),
    ...memberColumns(streamMembers),
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
  },
  t => [index('audit_streams_workspace').on(t.workspaceId, t.id)],
)
