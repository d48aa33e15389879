import { and, eq, sql } from 'drizzle-orm'
import { prepared } from '../../core/db/prepared'
import type { Tx } from '../../core/db/transaction'
import type { JobDraft } from '../../core/jobs/queue'
import { auditStreams } from './tables'

export const streamKind = 'audit.stream'

/** How long entries are waited for that go into one message with the first. */
export const gatherMs = 1_000

/** The job of a stream's next message. One waits at a time; one that is to go first takes the place of it. */
export const streamJobFor = (streamId: string, at: number, replaces = false): JobDraft => ({
  kind: streamKind,
  payload: { stream_id: streamId },
  runAt: at,
  uniqueKey: streamId,
  replaces,
})

/** What a chain that grew, or was signed, starts: the jobs of the streams that are switched on. */
export async function streamJobs(tx: Tx, workspaceId: string, now: number): Promise<JobDraft[]> {
  const rows = await prepared<{ id: string }[], Tx>(tx, 'audit-streams-of', handle =>
    handle
      .select({ id: auditStreams.id })
      .from(auditStreams)
      .where(and(eq(auditStreams.workspaceId, sql.placeholder('workspaceId')), eq(auditStreams.active, true))),
  ).execute({ workspaceId })
  return rows.map(row => streamJobFor(row.id, now + gatherMs))
}
