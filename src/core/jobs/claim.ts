import { and, asc, eq, gt, lte, min, sql } from 'drizzle-orm'
import { forUpdate } from '../db/dialect'
import { forIds } from '../db/id-list'
import { prepared } from '../db/prepared'
import { jobs } from '../db/tables'
import type { Tx } from '../db/transaction'
import type { Hub } from '../hub'
import type { ClaimedJob } from './job'

/**
 * Selects up to `limit` due jobs of a kind without lanes, by priority. Queries one priority after the other in index order: a
 * single query would either scan all jobs scheduled for later or sort all due jobs, and there may be many of both.
 */
export async function dueJobs(tx: Tx, hub: Pick<Hub, 'clock'>, kind: string, limit: number): Promise<string[]> {
  const now = hub.clock.now()
  const ids: string[] = []
  let priority: number | null = Number.MIN_SAFE_INTEGER
  while (ids.length < limit) {
    priority = await nextPriority(tx, kind, priority)
    if (priority === null) break
    const page = await dueJobsQuery(tx).execute({ kind, priority, now, limit: limit - ids.length })
    ids.push(...page.map(row => row.id))
  }
  return ids
}

/**
 * Leases jobs (ms) and returns them in the order of `ids`. No two callers get the same job: SQLite has a single writer, and on
 * PostgreSQL the selection skips rows locked by another transaction.
 */
export async function lease(tx: Tx, hub: Pick<Hub, 'id' | 'clock'>, ids: string[], leaseMs: number): Promise<ClaimedJob[]> {
  if (ids.length === 0) return []
  const lockedUntil = hub.clock.now() + leaseMs
  const rows = await forIds(ids, (size, list, values) =>
    prepared<ClaimedJob[], Tx>(
      tx,
      `job-lease|${size}`,
      handle =>
        handle
          .update(jobs)
          .set({
            state: 'running',
            lockedBy: sql`${sql.placeholder('hub')}`,
            lockedUntil: sql`${sql.placeholder('lockedUntil')}`,
            attempts: sql`${jobs.attempts} + 1`,
            // The key prevents a second waiting job, and a running job no longer waits.
            uniqueKey: null,
          })
          .where(sql`${jobs.id} in ${list}`)
          .returning({
            id: jobs.id,
            kind: jobs.kind,
            lane: jobs.lane,
            priority: jobs.priority,
            payload: jobs.payload,
            attempts: jobs.attempts,
            lockedUntil: jobs.lockedUntil,
          }) as never,
    ).execute({ ...values, hub: hub.id, lockedUntil }),
  )
  const order = new Map(ids.map((id, index) => [id, index]))
  return rows.sort((a, b) => order.get(a.id)! - order.get(b.id)!)
}

const dueJobsQuery = (tx: Tx) =>
  prepared(tx, 'due-jobs', (read: Tx) =>
    forUpdate(
      read
        .select({ id: jobs.id })
        .from(jobs)
        .where(and(ready, eq(jobs.priority, sql.placeholder('priority')), lte(jobs.runAt, sql.placeholder('now'))))
        .orderBy(asc(jobs.runAt))
        .limit(sql.placeholder('limit')),
      'skip',
    ),
  )

async function nextPriority(tx: Tx, kind: string, after: number): Promise<number | null> {
  const next = prepared(tx, 'next-priority', read =>
    read
      .select({ priority: min(jobs.priority) })
      .from(jobs)
      .where(and(ready, gt(jobs.priority, sql.placeholder('after')))),
  )
  const [row] = await next.execute({ kind, after })
  return row?.priority ?? null
}

// Jobs of a kind without lanes have the empty lane, which is first in the index.
const ready = and(eq(jobs.state, 'ready'), eq(jobs.kind, sql.placeholder('kind')), eq(jobs.lane, ''))
