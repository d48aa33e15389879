import { and, asc, eq, gt, gte, inArray, lte } from 'drizzle-orm'
import { pruneByPlan } from '../../access/retention'
import { auditCounter } from '../../core/audit-chain'
import { record } from '../../core/change'
import { locking } from '../../core/db/dialect'
import { auditEntries, counters } from '../../core/db/tables'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { boundaryOf, writeCheckpoint } from './checkpoints'

const dayMs = 86_400_000
const mostAtOnce = 500

/**
 * Deletes audit entries that are older than the plan keeps them. Below which entry is signed and written down first; what is left
 * links to the hash that is named there, and verifies as before. The log of the installation itself is kept for ever.
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
      return { result: old.length }
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
  const old = first ? await entryAt(tx, chain, first.seq - 1) : await entryAt(tx, chain, (await lastSeq(tx, chain)) - 1)
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

async function lastSeq(tx: Tx, chain: string): Promise<number> {
  const [row] = await tx
    .select({ value: counters.value })
    .from(counters)
    .where(eq(counters.name, auditCounter(chain)))
  return row?.value ?? 0
}
