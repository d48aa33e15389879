import { and, asc, desc, eq, gt, gte, inArray, lt, lte, sql } from 'drizzle-orm'
import { pruneByPlan } from '../../access/retention'
import { auditCounter } from '../../core/audit-chain'
import { record } from '../../core/change'
import { locking } from '../../core/db/dialect'
import { auditEntries, counters } from '../../core/db/tables'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { boundaryOf, writeCheckpoint } from './checkpoints'
import { headOf } from './stream-view'
import { auditStreams } from './tables'

const dayMs = 86_400_000
const mostAtOnce = 500
/** How long entries that a stream has not delivered are kept beyond what the plan says. */
export const longestWaitMs = 30 * dayMs

/**
 * Deletes audit entries that are older than the plan keeps them. Below which entry is signed and written down first; what is left
 * links to the hash that is named there, and verifies as before. What a stream has not delivered waits for it, 30 days at most. The log of the installation itself is kept for ever.
 */
export const pruneAudit = (hub: Hub): Promise<void> =>
  pruneByPlan(hub, 'audit_days', async (workspaceId, before) => {
    // Whole days, so that a chain has one boundary a day and not one an hour.
    const midnight = Math.floor(before / dayMs) * dayMs
    return await record(hub, async tx => {
      const [held] = await locking(
        tx
          .select()
          .from(counters)
          .where(eq(counters.name, auditCounter(workspaceId))),
      )
      const boundary = held ? await moveBoundary(tx, hub, workspaceId, midnight) : 0
      const old = await tx
        .select({ id: auditEntries.id })
        .from(auditEntries)
        .where(and(eq(auditEntries.workspaceId, workspaceId), lte(auditEntries.seq, boundary)))
        .orderBy(asc(auditEntries.seq))
        .limit(mostAtOnce)
      if (old.length > 0)
        await tx.delete(auditEntries).where(
          inArray(
            auditEntries.id,
            old.map(row => row.id),
          ),
        )
      return { result: old.length, jobs: old.length > 0 ? await hub.auditJobs(tx, workspaceId, hub.clock.now()) : [] }
    })
  })

/** Signs the boundary that `before` (ms UTC) asks for, if it is above the one there is, and returns the one that holds. */
async function moveBoundary(tx: Tx, hub: Hub, chain: string, before: number): Promise<number> {
  const boundary = await boundaryOf(tx, chain)
  const kept = and(eq(auditEntries.workspaceId, chain), gt(auditEntries.seq, boundary))
  const [first] = await tx
    .select({ seq: auditEntries.seq })
    .from(auditEntries)
    .where(and(kept, gte(auditEntries.occurredAt, before)))
    .orderBy(asc(auditEntries.seq))
    .limit(1)
  // Where all are old the last one stays, so that a log never looks as if it had none.
  const wanted = (first ? first.seq : await headOf(tx, chain)) - 1
  const old = await entryAt(tx, chain, await heldBack(tx, chain, wanted, before - longestWaitMs))
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
 * What may be deleted up to `wanted`: no further than every stream that is switched on has the log, but what is older than `overdue`
 * (ms UTC) in any case.
 */
async function heldBack(tx: Tx, chain: string, wanted: number, overdue: number): Promise<number> {
  const [slowest] = await tx
    .select({
      position: sql<number | null>`min(${auditStreams.position})`.mapWith(value => (value === null ? null : Number(value))),
    })
    .from(auditStreams)
    .where(and(eq(auditStreams.workspaceId, chain), eq(auditStreams.active, true)))
  const position = slowest?.position ?? wanted
  if (position >= wanted) return wanted
  const [lastOverdue] = await tx
    .select({ seq: auditEntries.seq })
    .from(auditEntries)
    .where(and(eq(auditEntries.workspaceId, chain), lte(auditEntries.seq, wanted), lt(auditEntries.occurredAt, overdue)))
    .orderBy(desc(auditEntries.seq))
    .limit(1)
  return Math.max(position, lastOverdue?.seq ?? 0)
}
