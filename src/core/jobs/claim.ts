import { and, asc, eq, gt, inArray, lte, min, notInArray, sql } from 'drizzle-orm'
import { locking } from '../db/dialect'
import { prepared } from '../db/prepared'
import { jobs } from '../db/tables'
import type { Tx } from '../db/transaction'
import type { Hub } from '../hub'
import type { ClaimedJob } from './job'

/** How many runs each lane has under way here, and how many one may have. */
export interface Lanes {
  underWay: ReadonlyMap<string, number>
  most: number
}

/**
 * Takes up to `limit` due jobs of a kind under a lease, most urgent first. No two callers get the same job: SQLite has one
 * writer; on PostgreSQL, rows that another transaction holds are skipped. Lanes that are full are passed over, whatever waits in them.
 */
export async function claim(
  tx: Tx,
  hub: Pick<Hub, 'id' | 'clock'>,
  kind: string,
  leaseMs: number,
  limit: number,
  lanes: Lanes | null = null,
): Promise<ClaimedJob[]> {
  const now = hub.clock.now()
  const ids = await dueJobs(tx, kind, now, limit, lanes)
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
async function dueJobs(tx: Tx, kind: string, now: number, limit: number, lanes: Lanes | null): Promise<string[]> {
  const ids = new Set<string>()
  const underWay = new Map(lanes?.underWay)
  const full = new Set([...underWay].filter(([, runs]) => lanes && runs >= lanes.most).map(([lane]) => lane))
  let priority: number | null = Number.MIN_SAFE_INTEGER
  while (ids.size < limit) {
    priority = await nextPriority(tx, kind, priority)
    if (priority === null) break
    for (let more = true; more && ids.size < limit;) {
      more = false
      for (const { id, lane } of await duePage(tx, { kind, priority, now, limit }, [...full])) {
        if (ids.size >= limit) break
        if (ids.has(id)) continue
        const runs = underWay.get(lane) ?? 0
        if (lanes && runs >= lanes.most) {
          // What is due in other lanes lies behind: it is looked for again without this one.
          full.add(lane)
          more = true
          continue
        }
        underWay.set(lane, runs + 1)
        ids.add(id)
      }
    }
  }
  return [...ids]
}

async function duePage(
  tx: Tx,
  values: { kind: string; priority: number; now: number; limit: number },
  full: string[],
): Promise<{ id: string; lane: string }[]> {
  const due = (read: Tx) =>
    locking(
      read
        .select({ id: jobs.id, lane: jobs.lane })
        .from(jobs)
        .where(
          and(
            ready,
            ofKind,
            eq(jobs.priority, sql.placeholder('priority')),
            lte(jobs.runAt, sql.placeholder('now')),
            full.length > 0
              ? notInArray(
                  jobs.lane,
                  full.map((_, n) => sql.placeholder(`lane${n}`)),
                )
              : undefined,
          ),
        )
        .orderBy(asc(jobs.runAt))
        .limit(sql.placeholder('limit')),
      'skip',
    )
  const lanes = Object.fromEntries(full.map((lane, n) => [`lane${n}`, lane]))
  return await prepared(tx, `due-jobs|${full.length}`, due).execute({ ...values, ...lanes })
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
