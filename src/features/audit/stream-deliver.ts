import { and, eq, exists, isNull, lte, or } from 'drizzle-orm'
import { suspendedRetryMs } from '../../access/suspension'
import { workspaces } from '../../access/tables'
import type { AuditAction } from '../../core/audit-actions'
import { jobContext, record, systemActor } from '../../core/change'
import type { AuditDraft, RecordResult } from '../../core/change-result'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { JobKind } from '../../core/jobs/job'
import type { JobDraft } from '../../core/jobs/draft'
import { nextRetry, standardSchedule, unlimitedBackoff } from '../../core/outgoing/retry-schedule'
import { maxAttemptMs, type Posted } from '../../core/outgoing/signed-post'
import { nextBatch, type Batch } from './stream-batch'
import { gatherMs, streamJobFor, streamKind } from './stream-jobs'
import { postBatch, streamTimeoutSeconds } from './stream-post'
import { streamTarget } from './stream-target'
import { headOf, type StreamRow } from './stream-view'
import { auditStreams } from './tables'

type Outcome = RecordResult<undefined>

// Long enough for reading the log and one attempt. If a hub dies while sending, the stream waits this long.
const senderMs = streamTimeoutSeconds * 1_000 + 15_000
/**
 * Consecutive failures before one is logged. Otherwise, a receiver that fails occasionally would keep its stream busy with
 * entries about its own failures, which may fail again.
 */
const failuresToReport = 3

/** Sends the next message of a stream. The stream always continues after the last delivered entry. */
export const streamJob: JobKind<{ stream_id: string }> = {
  kind: streamKind,
  concurrency: 16,
  leaseMs: maxAttemptMs + 30_000,
  retryAfter: unlimitedBackoff,
  async run(hub, job) {
    const sender = `${job.id}.${job.lockedUntil}`
    const stream = await claimStream(hub, job.payload.stream_id, sender)
    if (!stream) return async tx => ({ result: undefined, jobs: await laterJobs(tx, hub, job.payload.stream_id) })
    try {
      const batch = await nextBatch(hub.read, stream)
      if (batch.body === null) return tx => delivered(tx, hub, stream, batch, false)
      const posted = await postBatch(hub, stream, batch.body, { attempt: stream.failedAttempts + 1 })
      return posted.reason === null ? tx => delivered(tx, hub, stream, batch, true) : tx => failed(tx, hub, stream, batch, posted)
    } catch (error) {
      await record(hub, async tx => {
        await write(tx, stream, {})
        return { result: undefined }
      })
      throw error
    }
  },
}

/** Claims the stream for this run. Null if it can't be sent to now. */
async function claimStream(hub: Hub, id: string, sender: string): Promise<StreamRow | null> {
  return await record(hub, async tx => {
    const now = hub.clock.now()
    const [row] = await tx
      .update(auditStreams)
      .set({ sender, senderUntil: now + senderMs })
      .where(
        and(
          eq(auditStreams.id, id),
          eq(auditStreams.active, true),
          or(isNull(auditStreams.senderUntil), lte(auditStreams.senderUntil, now)),
          or(isNull(auditStreams.nextAttemptAt), lte(auditStreams.nextAttemptAt, now)),
          exists(
            tx
              .select({ id: workspaces.id })
              .from(workspaces)
              .where(and(eq(workspaces.id, auditStreams.workspaceId), isNull(workspaces.suspendedAt))),
          ),
        ),
      )
      .returning()
    return { result: row ?? null }
  })
}

/**
 * Returns the job that tries again later: after the retry delay, when the current sender has finished or its claim has expired,
 * or when the workspace may have been resumed.
 */
async function laterJobs(tx: Tx, hub: Hub, id: string): Promise<JobDraft[]> {
  const [found] = await tx
    .select({ stream: auditStreams, suspendedAt: workspaces.suspendedAt })
    .from(auditStreams)
    .innerJoin(workspaces, eq(workspaces.id, auditStreams.workspaceId))
    .where(eq(auditStreams.id, id))
  if (!found?.stream.active) return []
  const pauseMs = found.suspendedAt === null ? gatherMs : suspendedRetryMs
  return [streamJobFor(id, Math.max(found.stream.nextAttemptAt ?? 0, hub.clock.now() + pauseMs))]
}

async function delivered(tx: Tx, hub: Hub, stream: StreamRow, batch: Batch, sent: boolean): Promise<Outcome> {
  const now = hub.clock.now()
  const { position, checkpoint, gap } = batch
  const isCurrent = await write(tx, stream, {
    position,
    checkpoint,
    retryPosition: null,
    retryCheckpoint: null,
    ...(sent && { failedAttempts: 0, failingSince: null, nextAttemptAt: null, lastSuccessAt: now, lastError: null }),
  })
  if (!isCurrent) return { result: undefined }
  const audits: AuditDraft[] = []
  if (gap)
    audits.push(
      entry(
        stream,
        'account.audit_stream.skip_entries',
        'failure',
        `Entries ${gap.from} to ${gap.to} were deleted before they could be delivered.`,
      ),
    )
  if (sent && stream.failedAttempts >= failuresToReport)
    audits.push(
      entry(stream, 'account.audit_stream.recover', 'success', `Recovered after ${stream.failedAttempts} consecutive failures.`),
    )
  const left = batch.more || (await headOf(tx, stream.workspaceId)) > position
  return { result: undefined, audits, jobs: left ? [streamJobFor(stream.id, batch.more ? now : now + gatherMs)] : [] }
}

async function failed(tx: Tx, hub: Hub, stream: StreamRow, batch: Batch, posted: Posted): Promise<Outcome> {
  const now = hub.clock.now()
  const failedAttempts = stream.failedAttempts + 1
  // An audit log must not lose entries: after the end of the schedule, keep retrying with the last delay.
  const attempt = Math.min(failedAttempts, standardSchedule.length - 1)
  const nextAttemptAt = nextRetry({ attempt, nowMs: now, random: Math.random, retryAfter: posted.retryAfter })!
  const isCurrent = await write(tx, stream, {
    failedAttempts,
    nextAttemptAt,
    failingSince: stream.failingSince ?? now,
    lastError: `${posted.reason}: ${posted.errorMessage}`,
    retryPosition: batch.position,
    retryCheckpoint: batch.checkpoint,
  })
  if (!isCurrent) return { result: undefined }
  const isReported = failedAttempts === failuresToReport
  return {
    result: undefined,
    audits: isReported ? [entry(stream, 'account.audit_stream.fail', 'failure', `${posted.reason}: ${posted.errorMessage}`)] : [],
    jobs: [streamJobFor(stream.id, nextAttemptAt)],
  }
}

/** Writes the outcome and releases the stream. False if another run has claimed it, or it was edited or deleted. */
async function write(tx: Tx, stream: StreamRow, columns: Partial<StreamRow>): Promise<boolean> {
  const rows = await tx
    .update(auditStreams)
    .set({ ...columns, sender: null, senderUntil: null })
    .where(and(eq(auditStreams.id, stream.id), eq(auditStreams.sender, stream.sender!)))
    .returning({ id: auditStreams.id })
  return rows.length === 1
}

const entry = (stream: StreamRow, action: AuditAction, outcome: 'success' | 'failure', reason: string): AuditDraft => ({
  workspaceId: stream.workspaceId,
  action,
  outcome,
  actor: systemActor(streamKind),
  context: jobContext,
  targets: [streamTarget(stream)],
  reason,
})
