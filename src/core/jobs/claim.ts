import { and, asc, eq, gt, inArray, lte, min, sql } from 'drizzle-orm'
import { locking } from '../db/dialect'
import { prepared } from '../db/prepared'
import { jobs } from '../db/tables'
import type { Tx } from '../db/transaction'
import type { Hub } from '../hub'
import type { ClaimedJob } from './job'

/**
 * Takes up to `limit` due jobs of a kind under a lease, most urgent first. No two callers get the same job: SQLite has one
 * writer; on PostgreSQL, rows that another transaction holds are skipped.
 */
export async function claim(
  tx: Tx,
  hub: Pick<Hub, 'id' | 'clock'>,
  kind: string,
  leaseMs: number,
  limit: number,
): Promise<ClaimedJob[]> {
  const now = hub.clock.now()
  const ids = await dueJobs(tx, kind, now, limit)
  if (ids.length === 0) return []
  const rows = await tx
    .update(jobs)
    .set({
      state: 'running',
      lockedBy: hub.id,
      lockedUntil: now + leaseMs,
      attempts: sql`${jobs.attempts} + 1`,
      // The key only keeps a second job from waiting; one that runs no longer waits.
      uniqueKey: null,
    })
    .where(inArray(jobs.id, ids))
    .returning()
  const order = new Map(ids.map((id, place) => [id, place]))
  return rows.sort((a, b) => order.get(a.id)! - order.get(b.id)!)
}

/**
 * One priority after the other, each read in the order of the index. Asked for all at once, an engine either passes over all
 * jobs that wait for a later time or sorts all that are due, and there may be very many of both.
 */
async function dueJobs(tx: Tx, kind: string, now: number, limit: number): Promise<string[]> {
  const ids: string[] = []
  let priority: number | null = Number.MIN_SAFE_INTEGER
  while (ids.length < limit) {
    priority = await nextPriority(tx, kind, priority)
    if (priority === null) break
    const due = prepared(tx, 'due-jobs', read =>
      locking(
        read
          .select({ id: jobs.id })
          .from(jobs)
          .where(and(ready, ofKind, eq(jobs.priority, sql.placeholder('priority')), lte(jobs.runAt, sql.placeholder('now'))))
          .orderBy(asc(jobs.runAt))
          .limit(sql.placeholder('limit')),
        'skip',
      ),
    )
    const rows = await due.execute({ kind, priority, now, limit: limit - ids.length })
    ids.push(...rows.map(row => row.id))
  }
  return ids
}

async function nextPriority(tx: Tx, kind: string, after: number): Promise<number | null> {
  const next = prepared(tx, 'next-priority', read =>
    read
      .select({ priority: min(jobs.priority) })
      .from(jobs)
      .where(and(ready, ofKind, gt(jobs.priority, sql.placeholder('after')))),
  )
  const [row] = await next.execute({ kind, after })
  return row?.priority ?? null
}

const ready = eq(jobs.state, 'ready')
const ofKind = eq(jobs.kind, sql.placeholder('kind'))
