import { desc, eq } from 'drizzle-orm'
import { refuseOverLimit } from '../../access/plans'
import { refuseForbiddenUrl } from '../../access/network-policy'
import { change, isUnchanged } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { auditCheckpoints } from '../../core/db/tables'
import type { Reader, Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import { listingOf, listPage } from '../../core/list'
import { flagFilter, searchFilter, timeFilters } from '../../core/list-filters'
import { inputColumns } from '../../core/members'
import { onlySecret, secretOf } from '../../core/outgoing/signing-secrets'
import { invalid } from '../../core/problem'
import { changedRow, deleteRow, findRow, insertRow, lockRow, saveRow } from '../../core/rows'
import type { Page } from '../../core/shapes'
import { rowsOf } from '../../registry'
import { unknownActions, unknownActionDetail } from './actions-filter'
import { boundaryOf } from './checkpoints'
import { streamJobFor } from './stream-jobs'
import { streamMembers, type AuditStreamInput, type AuditStreamPatch, type AuditStreamView } from './stream-shapes'
import { streamTarget } from './stream-target'
import { headOf, streamView, type StreamRow } from './stream-view'
import { auditStreams } from './tables'

export const streamRows = rowsOf('audit_stream', auditStreams)

export const streamListing = listingOf('audit-streams', auditStreams, {
  isSmall: true,
  filters: {
    active: flagFilter(auditStreams.active, 'True for active streams, false for paused ones.'),
    q: searchFilter([auditStreams.name, auditStreams.url], 'Only streams whose name or URL contains all words of this text.'),
    ...timeFilters('created_at', auditStreams.createdAt),
  },
  sorts: ['name', 'created_at'],
})

export async function listStreams(ctx: Ctx, query: Record<string, unknown>): Promise<Page<AuditStreamView>> {
  const head = await headOf(ctx.hub.read, ctx.workspaceId)
  return await listPage(ctx, streamListing, query, row => streamView(row, head, ctx.hub.clock.now()))
}

/** @throws Problem 404 */
export const getStream = async (ctx: Ctx, id: string): Promise<AuditStreamView> =>
  await viewOf(ctx.hub.read, ctx, await findRow(ctx.hub.read, ctx, streamRows, id))

/**
 * Creates a stream. The secret is only in the result.
 * @throws Problem 422, 409 if the limit is reached
 */
export async function createStream(ctx: Ctx, input: AuditStreamInput): Promise<AuditStreamView & { secret: string }> {
  const secret = secretOf(input)
  await refuseUnknownActions(ctx, input.actions)
  await refuseForbiddenUrl(ctx, input.url)
  return await change(ctx, 'account.audit_stream.create', async tx => {
    await refuseOverLimit(tx, ctx, 'audit_stream')
    const own = { id: newId('aus'), workspaceId: ctx.workspaceId }
    const row = await insertRow(tx, ctx, streamRows, {
      ...own,
      ...inputColumns(streamMembers, input),
      ...(await onlySecret(tx, ctx.hub, auditStreams, own, secret)),
      ...(await startAt(tx, ctx.workspaceId, input.from ?? 'now')),
      ...noFailures,
      lastSuccessAt: null,
      sender: null,
      senderUntil: null,
    })
    const view = await viewOf(tx, ctx, row)
    return { result: { ...view, secret }, target: streamTarget(row), after: view }
  })
}

/**
 * Updates a stream. If the URL or the actions change, a failing stream is retried immediately. A resumed stream continues where
 * it stopped.
 * @throws Problem 404, 409, 412, 422
 */
export async function updateStream(ctx: Ctx, id: string, patch: AuditStreamPatch): Promise<AuditStreamView> {
  await findRow(ctx.hub.read, ctx, streamRows, id)
  await refuseUnknownActions(ctx, patch.actions)
  if (patch.url !== undefined) await refuseForbiddenUrl(ctx, patch.url)
  return await change(ctx, 'account.audit_stream.update', async tx => {
    const row = await lockRow(tx, ctx, streamRows, id)
    const isRedirected = patch.url !== undefined || patch.actions !== undefined
    const restarts = isRedirected || patch.active !== undefined
    const changed = isUnchanged(row, patch)
      ? row
      : await saveRow(tx, ctx, streamRows, row, {
          ...patch,
          ...(restarts && noFailures),
          // An attempt in flight went to the old receiver: clearing the sender discards its outcome.
          ...(isRedirected && { sender: null }),
        })
    return {
      ...(await changedRow(streamRows, row, changed, one => viewOf(tx, ctx, one))),
      jobs: restarts && changed !== row && changed.active ? [streamJobFor(id, ctx.hub.clock.now(), true)] : [],
    }
  })
}

/**
 * Deletes a stream. Undelivered entries are no longer sent.
 * @throws Problem 404, 412
 */
export const deleteStream = (ctx: Ctx, id: string): Promise<void> =>
  deleteRow(ctx, 'account.audit_stream.delete', streamRows, id, (row, tx) => viewOf(tx, ctx, row))

/** A stream of unknown actions would never send anything. @throws Problem 422 */
async function refuseUnknownActions(ctx: Ctx, actions: readonly string[] | null | undefined): Promise<void> {
  const indexes = await unknownActions(ctx, actions ?? [])
  if (indexes.length === 0) return
  throw invalid(indexes.map(index => ({ pointer: `#/actions/${index}`, code: 'unknown', detail: unknownActionDetail })))
}

export const viewOf = async (read: Reader, ctx: Ctx, row: StreamRow): Promise<AuditStreamView> =>
  streamView(row, await headOf(read, row.workspaceId), ctx.hub.clock.now())

const noFailures = {
  failedAttempts: 0,
  failingSince: null,
  nextAttemptAt: null,
  lastError: null,
  retryPosition: null,
  retryCheckpoint: null,
}

/** The start position of a stream: after the last entry and checkpoint, or before the oldest stored entry. */
async function startAt(tx: Tx, chain: string, from: 'now' | 'beginning'): Promise<{ position: number; checkpoint: number }> {
  if (from === 'beginning') return { position: await boundaryOf(tx, chain), checkpoint: 0 }
  const [last] = await tx
    .select({ number: auditCheckpoints.number })
    .from(auditCheckpoints)
    .where(eq(auditCheckpoints.chain, chain))
    .orderBy(desc(auditCheckpoints.number))
    .limit(1)
  return { position: await headOf(tx, chain), checkpoint: last?.number ?? 0 }
}
