import { and, eq, sql } from 'drizzle-orm'
import { prepared } from '../../core/db/prepared'
import type { Tx } from '../../core/db/transaction'
import type { JobDraft } from '../../core/jobs/draft'
import { auditStreams } from './tables'

export const streamKind = 'audit.stream'

/** How long to wait for more entries to send in the same message. */
export const gatherMs = 1_000

/** The job of the next message of a stream. At most one is waiting; with `replaces`, a new one replaces it. */
export const streamJobFor = (streamId: string, at: number, replaces = false): JobDraft => ({
  kind: streamKind,
  payload: { stream_id: streamId },
  runAt: at,
  uniqueKey: streamId,
  replaces,
})

/** The jobs of all active streams of a chain, to run after new entries or checkpoints. */
export async function streamJobs(tx: Tx, workspaceId: string, now: number): Promise<JobDraft[]> {
  const rows = await prepared<{ id: string }[], Tx>(tx, 'audit-streams-of', handle =>
    handle
      .select({ id: auditStreams.id })
      .from(auditStreams)
      .where(and(eq(auditStreams.workspaceId, sql.placeholder('workspaceId')), eq(auditStreams.active, true))),
  ).execute({ workspaceId })
  return rows.map(row => streamJobFor(row.id, now + gatherMs))
}
