import { and, eq, exists, isNull, lte, or } from 'drizzle-orm'
import { suspendedPauseMs } from '../../access/suspension'
import { workspaces } from '../../access/tables'
import type { AuditAction } from '../../core/audit-actions'
import { jobContext, record, systemActor, type AuditDraft, type Recorded } from '../../core/change'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { JobKind } from '../../core/jobs/job'
import type { JobDraft } from '../../core/jobs/queue'
import { untilDone } from '../webhooks/delivery-jobs'
import { nextRetry, standardSchedule } from '../webhooks/retry-schedule'
import { longestTryMs, type Posted } from '../webhooks/signed-post'
import { nextBatch, type Batch } from './stream-batch'
import { gatherMs, streamJobFor, streamKind } from './stream-jobs'
import { postBatch, streamTimeoutSeconds } from './stream-post'
import { streamTarget } from './stream-target'
import { headOf, type StreamRow } from './stream-view'
import { auditStreams } from './tables'

type Outcome = Recorded<undefined>

// A try is over by then, with reading the log before it; a hub that died in the middle is waited for so long.
const senderMs = streamTimeoutSeconds * 1_000 + 15_000
/**
 * Failures in a row before the log is told. A receiver that fails now and then must not keep its stream busy with entries about
 * itself, each of which is a message that may fail.
 */
const failuresToTell = 3

/** Sends a stream the next of what it lacks. Whatever the receiver does, the stream goes on from what it took last. */
export const streamJob: JobKind<{ stream_id: string }> = {
  kind: streamKind,
  concurrency: 16,
  leaseMs: longestTryMs + 30_000,
  retryAfter: untilDone,
  async run(hub, job) {
    const sender = `${job.id}.${job.attempts}`
    const stream = await begin(hub, job.payload.stream_id, sender)
    if (!stream) return async tx => ({ result: undefined, jobs: await later(tx, hub, job.payload.stream_id) })
    try {
      const batch = await nextBatch(hub.read, stream)
      if (batch.body === null) return tx => taken(tx, hub, stream, batch, false)
      const posted = await postBatch(hub, stream, batch.body, { attempt: stream.failedAttempts + 1 })
      return posted.reason === null ? tx => taken(tx, hub, stream, batch, true) : tx => failed(tx, hub, stream, batch, posted)
    } catch (error) {
      await record(hub, async tx => {
        await write(tx, stream, {})
        return { result: undefined }
      })
      throw error
    }
  },
}

/** Takes the stream for this run alone; null when it may not be sent to now. */
async function begin(hub: Hub, id: string, sender: string): Promise<StreamRow | null> {
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
 * The job that looks again: when the pause after a failure is over, whoever sends now has ended or is given up, or the workspace may
 * have been resumed.
 */
async function later(tx: Tx, hub: Hub, id: string): Promise<JobDraft[]> {
  const [found] = await tx
    .select({ stream: auditStreams, suspendedAt: workspaces.suspendedAt })
    .from(auditStreams)
    .innerJoin(workspaces, eq(workspaces.id, auditStreams.workspaceId))
    .where(eq(auditStreams.id, id))
  if (!found?.stream.active) return []
  const pauseMs = found.suspendedAt === null ? gatherMs : suspendedPauseMs
  return [streamJobFor(id, Math.max(found.stream.nextAttemptAt ?? 0, hub.clock.now() + pauseMs))]
}

async function taken(tx: Tx, hub: Hub, stream: StreamRow, batch: Batch, sent: boolean): Promise<Outcome> {
  const now = hub.clock.now()
  const { position, checkpoint, gap } = batch
  const kept = await write(tx, stream, {
    position,
    checkpoint,
    retryPosition: null,
    retryCheckpoint: null,
    ...(sent && { failedAttempts: 0, failingSince: null, nextAttemptAt: null, lastSuccessAt: now, lastError: null }),
  })
  if (!kept) return { result: undefined }
  const audits: AuditDraft[] = []
  if (gap)
    audits.push(
      entry(
        stream,
        'account.audit_stream.lose',
        'failure',
        `Entries ${gap.from} to ${gap.to} were deleted before they were taken.`,
      ),
    )
  if (sent && stream.failedAttempts >= failuresToTell)
    audits.push(entry(stream, 'account.audit_stream.recover', 'success', `After ${stream.failedAttempts} failures in a row.`))
  const left = batch.more || (await headOf(tx, stream.workspaceId)) > position
  return { result: undefined, audits, jobs: left ? [streamJobFor(stream.id, batch.more ? now : now + gatherMs)] : [] }
}

async function failed(tx: Tx, hub: Hub, stream: StreamRow, batch: Batch, posted: Posted): Promise<Outcome> {
  const now = hub.clock.now()
  const failedAttempts = stream.failedAttempts + 1
  // A log must not lose: after the last delay of the schedule it stays at that one for ever.
  const attempt = Math.min(failedAttempts, standardSchedule.length - 1)
  const retryAfter = posted.answer?.headers.get('retry-after') ?? null
  const nextAttemptAt = nextRetry({ attempt, nowMs: now, random: Math.random, retryAfter })!
  const kept = await write(tx, stream, {
    failedAttempts,
    nextAttemptAt,
    failingSince: stream.failingSince ?? now,
    lastError: `${posted.reason}: ${posted.errorMessage}`,
    retryPosition: batch.position,
    retryCheckpoint: batch.checkpoint,
  })
  if (!kept) return { result: undefined }
  const told = failedAttempts === failuresToTell
  return {
    result: undefined,
    audits: told ? [entry(stream, 'account.audit_stream.fail', 'failure', `${posted.reason}: ${posted.errorMessage}`)] : [],
    jobs: [streamJobFor(stream.id, nextAttemptAt)],
  }
}

/** Writes the outcome and lets go of the stream. False when it is another's, was edited so that it begins anew, or is gone. */
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
