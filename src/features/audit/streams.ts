import { Type } from '@sinclair/typebox'
import { and, desc, eq, sql } from 'drizzle-orm'
import { refuseOneTooMany } from '../../access/fixed-limits'
import { change, isAlready } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { locking } from '../../core/db/dialect'
import { auditCheckpoints } from '../../core/db/tables'
import type { Reader, Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import { requireMatch } from '../../core/if-match'
import { listPage, searchFilter, timeFilters, type Listing } from '../../core/list'
import { invalid, notFound } from '../../core/problem'
import type { Page } from '../../core/shapes'
import { secretFrom } from '../webhooks/endpoints'
import { hintOf, sealedIn } from '../webhooks/live-secrets'
import { refuseTarget } from '../webhooks/target'
import { meaningless, meansNoAction } from './actions-filter'
import { boundaryOf } from './checkpoints'
import { streamJobFor } from './stream-jobs'
import type { AuditStreamInput, AuditStreamPatch, AuditStreamView } from './stream-shapes'
import { streamTarget } from './stream-target'
import { headOf, streamView, type StreamRow } from './stream-view'
import { auditStreams } from './tables'

/** Streams that a workspace may have. */
export const mostStreams = 10

export const streamListing: Listing<StreamRow> = {
  name: 'audit-streams',
  table: auditStreams as never,
  id: auditStreams.id,
  idOf: row => row.id,
  owner: auditStreams.workspaceId,
  defaultSort: '-id',
  filters: {
    active: {
      schema: Type.Boolean({ description: 'Only those that are switched on, or off.' }),
      where: (value, place) => sql`${auditStreams.active} = ${place(value)}`,
    },
    q: searchFilter([auditStreams.name, auditStreams.url], 'Only those whose name or URL holds this text.'),
    ...timeFilters('created_at', auditStreams.createdAt),
  },
  sorts: {
    name: { column: auditStreams.name, read: row => row.name },
    created_at: { column: auditStreams.createdAt, read: row => row.createdAt },
  },
}

export async function listStreams(ctx: Ctx, query: Record<string, unknown>): Promise<Page<AuditStreamView>> {
  const head = await headOf(ctx.hub.read, ctx.workspaceId)
  return await listPage(ctx, streamListing, query, row => streamView(row, head, ctx.hub.clock.now()))
}

/** @throws Problem 404 */
export const getStream = async (ctx: Ctx, id: string): Promise<AuditStreamView> =>
  await viewOf(ctx.hub.read, ctx, await streamOf(ctx.hub.read, ctx, id))

/**
 * Makes a stream; its secret is in the result and nowhere else.
 * @throws Problem 422, 409 when there are as many as there may be
 */
export async function createStream(ctx: Ctx, input: AuditStreamInput): Promise<AuditStreamView & { secret: string }> {
  const secret = secretFrom(input)
  await refuseMeaningless(ctx, input.actions)
  await refuseTarget(ctx, input.url)
  return await change(ctx, 'account.audit_stream.create', async tx => {
    await refuseOneTooMany(tx, ctx.workspaceId, { table: auditStreams, most: mostStreams, things: 'audit streams' })
    const id = newId('aus')
    const now = ctx.hub.clock.now()
    const place = sealedIn({ id, workspaceId: ctx.workspaceId }, 'secret_sealed', 'audit_streams')
    const [row] = await tx
      .insert(auditStreams)
      .values({
        id,
        workspaceId: ctx.workspaceId,
        name: input.name,
        url: input.url,
        actions: input.actions ?? null,
        active: input.active ?? true,
        secretSealed: await ctx.hub.keys.seal(tx, place, secret),
        secretHint: hintOf(secret),
        nextSecretSealed: null,
        nextSecretHint: null,
        rotatesAt: null,
        ...(await startAt(tx, ctx.workspaceId, input.from ?? 'now')),
        ...fresh,
        lastSuccessAt: null,
        sender: null,
        senderUntil: null,
        version: 1,
        createdAt: now,
        updatedAt: now,
      })
      .returning()
    const view = await viewOf(tx, ctx, row!)
    return { result: { ...view, secret }, target: streamTarget(row!), after: view }
  })
}

/**
 * Edits a stream. What is failing is tried at once where it may now go elsewhere; switched on, it goes on from where it was.
 * @throws Problem 404, 409, 412, 422
 */
export async function updateStream(ctx: Ctx, id: string, patch: AuditStreamPatch): Promise<AuditStreamView> {
  await streamOf(ctx.hub.read, ctx, id)
  await refuseMeaningless(ctx, patch.actions)
  if (patch.url !== undefined) await refuseTarget(ctx, patch.url)
  return await change(ctx, 'account.audit_stream.update', async tx => {
    const row = await held(tx, ctx, id)
    requireMatch(ctx, row)
    const now = ctx.hub.clock.now()
    if (isAlready(row, patch)) return { result: await viewOf(tx, ctx, row), target: streamTarget(row), unchanged: true }
    const elsewhere = patch.url !== undefined || patch.actions !== undefined
    const anew = elsewhere || patch.active !== undefined
    const [changed] = await tx
      .update(auditStreams)
      // What is being sent went where it goes no more: the try under way is waited for, and counts for nothing.
      .set({ ...patch, ...(anew && fresh), ...(elsewhere && { sender: null }), version: row.version + 1, updatedAt: now })
      .where(eq(auditStreams.id, id))
      .returning()
    return {
      result: await viewOf(tx, ctx, changed!),
      target: streamTarget(row),
      before: await viewOf(tx, ctx, row),
      after: await viewOf(tx, ctx, changed!),
      jobs: anew && changed!.active ? [streamJobFor(id, now, true)] : [],
    }
  })
}

/**
 * Deletes a stream; what it lacks is not sent any more.
 * @throws Problem 404, 412
 */
export async function deleteStream(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, 'account.audit_stream.delete', async tx => {
    const row = await held(tx, ctx, id)
    requireMatch(ctx, row)
    await tx.delete(auditStreams).where(eq(auditStreams.id, id))
    return { result: undefined, target: streamTarget(row), before: await viewOf(tx, ctx, row) }
  })
}

/** A stream of what never happens would be silent for ever. @throws Problem 422 */
async function refuseMeaningless(ctx: Ctx, actions: readonly string[] | null | undefined): Promise<void> {
  const places = await meaningless(ctx, actions ?? [])
  if (places.length === 0) return
  throw invalid(places.map(place => ({ pointer: `#/actions/${place}`, code: 'unknown', detail: meansNoAction })))
}

/** @throws Problem 404 */
export async function streamOf(read: Reader, ctx: Ctx, id: string): Promise<StreamRow> {
  const [row] = await read.select().from(auditStreams).where(mine(ctx, id))
  if (!row) throw notFound('audit stream')
  return row
}

/**
 * The stream as it stands, which stays so until the transaction ends.
 * @throws Problem 404
 */
export async function held(tx: Tx, ctx: Ctx, id: string): Promise<StreamRow> {
  const [row] = await locking(tx.select().from(auditStreams).where(mine(ctx, id)))
  if (!row) throw notFound('audit stream')
  return row
}

export const viewOf = async (read: Reader, ctx: Ctx, row: StreamRow): Promise<AuditStreamView> =>
  streamView(row, await headOf(read, row.workspaceId), ctx.hub.clock.now())

const mine = (ctx: Ctx, id: string) => and(eq(auditStreams.id, id), eq(auditStreams.workspaceId, ctx.workspaceId))

// As if nothing had failed yet.
const fresh = {
  failedAttempts: 0,
  failingSince: null,
  nextAttemptAt: null,
  lastError: null,
  retryPosition: null,
  retryCheckpoint: null,
}

/** Before the entry that comes next, with the checkpoints there are; or before the oldest that is kept. */
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
