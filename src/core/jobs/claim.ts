import { and, asc, eq, inArray, lte, sql } from 'drizzle-orm'
import { locking } from '../db/dialect'
import { jobs } from '../db/tables'
import type { Tx } from '../db/transaction'
import type { Hub } from '../hub'
import type { ClaimedJob } from './job'

/**
 * Takes up to `limit` due jobs of a kind under a lease, most urgent first. No two callers get the same job: SQLite has one
 * writer; on PostgreSQL, rows that another transaction holds are skipped.
 */
export async function claim(tx: Tx, hub: Pick<Hub, 'id' | 'clock'>, kind: string, leaseMs: number, limit: number): Promise<ClaimedJob[]> {
  const now = hub.clock.now()
  const ids = await locking(tx.select({ id: jobs.id }).from(jobs)
    .where(and(eq(jobs.state, 'ready'), eq(jobs.kind, kind), lte(jobs.runAt, now)))
    .orderBy(asc(jobs.priority), asc(jobs.runAt)).limit(limit), 'skip')
  if (ids.length === 0) return []
  const rows = await tx.update(jobs).set({
    state: 'running', lockedBy: hub.id, lockedUntil: now + leaseMs, attempts: sql`${jobs.attempts} + 1`,
    // The key only keeps a second job from waiting; one that runs no longer waits.
    uniqueKey: null,
  }).where(inArray(jobs.id, ids.map(row => row.id))).returning()
  const order = new Map(ids.map((row, place) => [row.id, place]))
  return rows.sort((a, b) => order.get(a.id)! - order.get(b.id)!)
}
