import { and, eq, gt, gte, lt, notInArray, or, sql } from 'drizzle-orm'
import { prepared } from '../db/prepared'
import { hubs, jobs } from '../db/tables'
import type { Reader, Tx } from '../db/transaction'
import type { Hub } from '../hub'
import { newId } from '../ids'
import type { ClaimedJob } from './job'

/** A job to be done once its change is committed. */
export interface JobDraft {
  kind: string
  payload: Record<string, unknown>
  /** Milliseconds UTC; at once when absent. */
  runAt?: number
  priority?: number
  /** What takes turns with what. Goes with kinds that have rules for lanes, and with no others: theirs are not taken, and the log says so. */
  lane?: string
  /** While a job of this kind and key waits, a second is not added. */
  uniqueKey?: string
  /** Goes with `uniqueKey`: a job that waits under that key takes over this one's lane, time, priority and payload. */
  replaces?: boolean
}

const rowsPerInsert = 200

/** Adds jobs, as a step of the change that asks for them. */
export async function enqueue(tx: Tx, hub: Pick<Hub, 'clock'>, drafts: JobDraft[]): Promise<void> {
  const now = hub.clock.now()
  for (const replaces of [false, true]) {
    const alike = latest(drafts.filter(draft => (draft.replaces ?? false) === replaces))
    for (let start = 0; start < alike.length; start += rowsPerInsert) {
      const adding = tx.insert(jobs).values(
        alike.slice(start, start + rowsPerInsert).map(draft => ({
          id: newId('job'),
          kind: draft.kind,
          lane: draft.lane ?? '',
          state: 'ready' as const,
          priority: draft.priority ?? 100,
          runAt: draft.runAt ?? now,
          attempts: 0,
          lostRuns: 0,
          payload: draft.payload,
          uniqueKey: draft.uniqueKey ?? null,
          createdAt: now,
        })),
      )
      await (replaces
        ? adding.onConflictDoUpdate({ target: [jobs.kind, jobs.uniqueKey], set: taken })
        : adding.onConflictDoNothing())
    }
  }
}

/** Without those that a later one replaces: PostgreSQL refuses to write a row twice in one statement. */
const latest = (drafts: JobDraft[]): JobDraft[] => [
  ...new Map(
    drafts.map((draft, n) => [draft.replaces && draft.uniqueKey !== undefined ? `${draft.kind} ${draft.uniqueKey}` : n, draft]),
  ).values(),
]

const taken = {
  lane: sql`excluded.lane`,
  runAt: sql`excluded.run_at`,
  priority: sql`excluded.priority`,
  payload: sql`excluded.payload`,
}

/**
 * When the next waiting job of a kind is due (ms UTC), or null when none waits.
 * @param after only those due later than this (ms UTC)
 */
export async function nextRunAt(read: Reader, kind: string, after = -1): Promise<number | null> {
  const next = prepared(read, 'job-next', handle =>
    handle
      .select({ at: sql<number | null>`min(${jobs.runAt})`.mapWith(value => (value === null ? null : Number(value))) })
      .from(jobs)
      .where(and(eq(jobs.state, 'ready'), eq(jobs.kind, sql.placeholder('kind')), gt(jobs.runAt, sql.placeholder('after')))),
  )
  const [row] = await next.execute({ kind, after })
  return row?.at ?? null
}

type Lease = Pick<ClaimedJob, 'id' | 'lockedUntil'>

/** Ends a job that this hub holds. False when the lease was lost: then the caller's transaction must be undone. */
export async function finish(tx: Tx, hub: Pick<Hub, 'id'>, { id, lockedUntil }: Lease): Promise<boolean> {
  const gone = await prepared<{ id: string }[], Tx>(tx, 'job-finish', handle =>
    handle
      .delete(jobs)
      .where(
        and(
          eq(jobs.id, sql.placeholder('id')),
          eq(jobs.lockedBy, sql.placeholder('hub')),
          eq(jobs.lockedUntil, sql.placeholder('lockedUntil')),
        ),
      )
      .returning({ id: jobs.id }),
  ).execute({ id, lockedUntil, hub: hub.id })
  return gone.length === 1
}

/** Gives a held job back, to be run at `runAt`; `attempts` is kept unless named. False when the lease was lost. */
export async function giveBack(
  tx: Tx,
  hub: Pick<Hub, 'id'>,
  held: Lease,
  change: { runAt: number; lastError?: string; attempts?: number },
): Promise<boolean> {
  const rows = await tx
    .update(jobs)
    .set({ state: 'ready', lockedBy: null, lockedUntil: null, lostRuns: 0, ...change })
    .where(mine(hub, held))
    .returning({ id: jobs.id })
  return rows.length === 1
}

/** Sets a held job aside for good, with its error, for a person to look at. */
export async function giveUp(tx: Tx, hub: Pick<Hub, 'id' | 'clock'>, held: Lease, lastError: string): Promise<void> {
  const failedAt = hub.clock.now()
  await tx
    .update(jobs)
    .set({ state: 'failed', lockedBy: null, lockedUntil: null, lostRuns: 0, lastError, failedAt })
    .where(mine(hub, held))
}

const mine = (hub: Pick<Hub, 'id'>, { id, lockedUntil }: Lease) =>
  and(eq(jobs.id, id), eq(jobs.lockedBy, hub.id), eq(jobs.lockedUntil, lockedUntil))

/** A hub that has not renewed its row for this long is taken for dead. */
export const hubTimeoutMs = 15_000
// A job that was lost this often in a row takes its process down with it.
const mostLostRuns = 25

/** Frees the jobs of processes that died or overran their lease. Returns how many were freed. */
export async function reap(tx: Tx, hub: Pick<Hub, 'id' | 'clock'>): Promise<number> {
  const now = hub.clock.now()
  const alive = await tx
    .select({ id: hubs.id })
    .from(hubs)
    .where(sql`${hubs.seenAt} > ${now - hubTimeoutMs}`)
  const living = [hub.id, ...alive.map(one => one.id)]
  const lost = and(eq(jobs.state, 'running'), or(lt(jobs.lockedUntil, now), notInArray(jobs.lockedBy, living)))
  const freed = { lockedBy: null, lockedUntil: null, lostRuns: sql`${jobs.lostRuns} + 1` }
  const lastError = `Taken ${mostLostRuns} times in a row and never finished.`
  await tx
    .update(jobs)
    .set({ ...freed, state: 'failed', failedAt: now, lastError })
    .where(and(lost, gte(jobs.lostRuns, mostLostRuns - 1)))
  const rows = await tx
    .update(jobs)
    .set({ ...freed, state: 'ready' })
    .where(lost)
    .returning({ id: jobs.id })
  return rows.length
}
