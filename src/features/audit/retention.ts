import { and, asc, desc, eq, gt, gte, lt, lte, sql } from 'drizzle-orm'
import { pruneByPlan } from '../../access/retention'
import { auditCounter } from '../../core/audit-chain'
import { record } from '../../core/change'
import { forUpdate } from '../../core/db/dialect'
import { auditEntries, counters } from '../../core/db/tables'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { deleteBatch } from '../../core/rows'
import { boundaryOf, writeCheckpoint } from './checkpoints'
import { headOf } from './stream-view'
import { auditStreams } from './tables'

const dayMs = 86_400_000
/** How long entries that a stream has not delivered are kept beyond the retention of the plan. */
export const maxStreamDelayMs = 30 * dayMs

/**
 * Deletes audit entries that exceed the retention of the plan. First stores a signed boundary with the hash that the remaining
 * entries link to, so that they can still be verified. Entries that a stream has not delivered are kept for up to 30 more days.
 * The log of the installation itself is kept forever.
 */
export const pruneAudit = (hub: Hub): Promise<void> =>
  pruneByPlan(hub, 'audit_days', async (workspaceId, before) => {
    // Whole days, so that a chain gets only one boundary a day.
    const midnight = Math.floor(before / dayMs) * dayMs
    return await record(hub, async tx => {
      const [counter] = await forUpdate(
        tx
          .select()
          .from(counters)
          .where(eq(counters.name, auditCounter(workspaceId))),
      )
      const boundary = counter ? await moveBoundary(tx, hub, workspaceId, midnight) : 0
      const condition = and(eq(auditEntries.workspaceId, workspaceId), lte(auditEntries.seq, boundary))
      const old = await deleteBatch(tx, auditEntries, condition, auditEntries.seq)
      return { result: old.length, jobs: old.length > 0 ? await hub.auditJobs(tx, workspaceId, hub.clock.now()) : [] }
    })
  })

/** Moves the boundary to the entries before `before` (ms UTC), if that is further than the current one, and returns it. */
async function moveBoundary(tx: Tx, hub: Hub, chain: string, before: number): Promise<number> {
  const boundary = await boundaryOf(tx, chain)
  const remaining = and(eq(auditEntries.workspaceId, chain), gt(auditEntries.seq, boundary))
  const [first] = await tx
    .select({ seq: auditEntries.seq })
    .from(auditEntries)
    .where(and(remaining, gte(auditEntries.occurredAt, before)))
    .orderBy(asc(auditEntries.seq))
    .limit(1)
  // If all entries are old, keep the last one, so that a log never looks empty.
  const target = (first ? first.seq : await headOf(tx, chain)) - 1
  const old = await entryAt(tx, chain, await limitByStreams(tx, chain, target, before - maxStreamDelayMs))
  if (!old || old.seq <= boundary) return boundary
  await writeCheckpoint(tx, hub, {
    chain,
    kind: 'boundary',
    seq: old.seq,
    count: 0,
    head: Buffer.from(old.hash).toString('hex'),
  })
  return old.seq
}

async function entryAt(tx: Tx, chain: string, seq: number) {
  const [row] = await tx
    .select({ seq: auditEntries.seq, hash: auditEntries.hash })
    .from(auditEntries)
    .where(and(eq(auditEntries.workspaceId, chain), eq(auditEntries.seq, seq)))
  return row
}

/**
 * Limits a boundary to what all active streams have delivered. Entries older than `overdue` (ms UTC) may be deleted in any case.
 */
async function limitByStreams(tx: Tx, chain: string, target: number, overdue: number): Promise<number> {
  const [slowest] = await tx
    .select({
      position: sql<number | null>`min(${auditStreams.position})`.mapWith(value => (value === null ? null : Number(value))),
    })
    .from(auditStreams)
    .where(and(eq(auditStreams.workspaceId, chain), eq(auditStreams.active, true)))
  const position = slowest?.position ?? target
  if (position >= target) return target
  const [lastOverdue] = await tx
    .select({ seq: auditEntries.seq })
    .from(auditEntries)
    .where(and(eq(auditEntries.workspaceId, chain), lte(auditEntries.seq, target), lt(auditEntries.occurredAt, overdue)))
    .orderBy(desc(auditEntries.seq))
    .limit(1)
  return Math.max(position, lastOverdue?.seq ?? 0)
}
