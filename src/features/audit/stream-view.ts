import { eq } from 'drizzle-orm'
import { auditCounter } from '../../core/audit-chain'
import { instant } from '../../core/clock'
import { counters } from '../../core/db/tables'
import type { Reader } from '../../core/db/transaction'
import { editableView, memberView } from '../../core/members'
import { secretHintsOf } from '../../core/outgoing/signing-secrets'
import { streamMembers, type AuditStreamView } from './stream-shapes'
import type { auditStreams } from './tables'

export type StreamRow = typeof auditStreams.$inferSelect

/** `seq` of the last entry of a chain; 0 when there is none. */
export async function headOf(read: Reader, chain: string): Promise<number> {
  const [row] = await read
    .select({ value: counters.value })
    .from(counters)
    .where(eq(counters.name, auditCounter(chain)))
  return row?.value ?? 0
}

/**
 * A stream as the API returns it. Secrets are masked.
 * @param head `seq` of the last entry of the log
 * @param now ms UTC
 */
export function streamView(row: StreamRow, head: number, now: number): AuditStreamView {
  return {
    id: row.id,
    ...memberView(streamMembers, row),
    status: !row.active ? 'paused' : row.failedAttempts > 0 ? 'failing' : 'ok',
    position: row.position,
    lag: Math.max(0, head - row.position),
    last_success_at: instant(row.lastSuccessAt),
    last_error: row.lastError,
    failing_since_at: instant(row.failingSince),
    next_attempt_at: row.active ? instant(row.nextAttemptAt) : null,
    ...secretHintsOf(row, now),
    ...editableView(row),
  }
}
