import { and, eq, gt, gte, notInArray, sql } from 'drizzle-orm'
import { forIds } from '../db/id-list'
import { insertRows, skipExisting, type OnConflict } from '../db/insert-rows'
import { prepared } from '../db/prepared'
import { updateRows } from '../db/update-rows'
import { heldLanes, hubs, jobs } from '../db/tables'
import type { Reader, Tx } from '../db/transaction'
import type { Clock } from '../clock'
import type { Hub } from '../hub'
import { leaseTime, liveSince } from '../live-hubs'
import { newId } from '../ids'
import type { JobDraft } from './draft'
import type { ClaimedJob } from './job'

/** Adds jobs in the transaction of a change. */
export async function enqueue(tx: Tx, hub: { clock: Pick<Clock, 'now'> }, drafts: JobDraft[]): Promise<void> {
  if (drafts.length === 0) return
  const now = hub.clock.now()
  for (const replaces of [false, true]) {
    const batch = latest(
      drafts.filter(draft => (draft.replaces ?? false) === replaces),
      now,
    )
    await insertRows(
      tx,
      jobs,
      batch.map(draft => ({
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
      replaces ? replaceExisting : skipExisting,
    )
  }
}

/** Drops drafts replaced by a later one: PostgreSQL can't update a row twice in one statement. */
function latest(drafts: JobDraft[], now: number): JobDraft[] {
  const kept = new Map<string | number, JobDraft>()
  for (const [n, draft] of drafts.entries()) {
    const key = draft.replaces && draft.uniqueKey !== undefined ? `${draft.kind} ${draft.uniqueKey}` : n
    const replaced = draft.earliest ? kept.get(key) : undefined
    kept.set(key, replaced ? { ...draft, runAt: Math.min(draft.runAt ?? now, replaced.runAt ?? now) } : draft)
  }
  return [...kept.values()]
}

const replaceExisting: OnConflict = {
  name: 'replace',
  apply: insert =>
    insert.onConflictDoUpdate({
      target: [jobs.kind, jobs.uniqueKey],
      set: {
        lane: sql`excluded.lane`,
        runAt: sql`excluded.run_at`,
        priority: sql`excluded.priority`,
        payload: sql`excluded.payload`,
      },
    }),
}

/**
 * Returns when the next waiting job of a kind is due (ms UTC); null if there is none.
 * @param after only jobs due later than this (ms UTC)
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

/**
 * As `nextRunAt`, without jobs of lanes that are held until later than `now` (ms UTC), such as deliveries to a webhook endpoint that
 * keeps failing.
 */
export async function nextRunAtInOpenLanes(read: Reader, kind: string, now: number): Promise<number | null> {
  const next = prepared(read, 'job-next-open', handle => {
    const ready = sql`${jobs.state} = 'ready' and ${jobs.kind} = ${sql.placeholder('kind')}`
    // Skips from lane to lane in the index, and over all jobs of held lanes, which can be many. With the plus, the time is not searched
    // in the index by time, where the jobs of held lanes come first.
    return handle
      .select({ at: sql<number | null>`min(open_lanes.at)`.mapWith(value => (value === null ? null : Number(value))) })
      .from(
        sql`(with recursive lanes(name) as (
          select min(${jobs.lane}) from ${jobs} where ${ready}
          union all
          select (select min(${jobs.lane}) from ${jobs} where ${ready} and ${jobs.lane} > lanes.name)
          from lanes where lanes.name is not null)
        select (select min(+${jobs.runAt}) from ${jobs} where ${ready} and ${jobs.lane} = lanes.name) as at
        from lanes where lanes.name is not null and not exists (select 1 from ${heldLanes}
          where ${heldLanes.kind} = ${sql.placeholder('kind')} and ${heldLanes.lane} = lanes.name
            and ${heldLanes.heldUntil} > ${sql.placeholder('now')})) as open_lanes`,
      )
  })
  const [row] = await next.execute({ kind, now })
  return row?.at ?? null
}

type Lease = Pick<ClaimedJob, 'id' | 'lockedUntil'>

/** Deletes a finished job. False if the lease was lost: then the caller must roll back the transaction. */
export async function finish(tx: Tx, hub: Pick<Hub, 'id'>, { id, lockedUntil }: Lease): Promise<boolean> {
  const deleted = await prepared<{ id: string }[], Tx>(tx, 'job-finish', handle =>
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
  return deleted.length === 1
}

/** Deletes finished jobs. False if a lease was lost: then the caller must roll back the transaction. */
export async function finishAll(tx: Tx, hub: Pick<Hub, 'id'>, leases: readonly Lease[]): Promise<boolean> {
  const ids = leases.map(one => one.id)
  const deleted = await forIds(ids, (size, list, values) =>
    prepared<Lease[], Tx>(tx, `jobs-finish|${size}`, handle =>
      handle
        .delete(jobs)
        .where(sql`${jobs.id} in ${list} and ${jobs.lockedBy} = ${sql.placeholder('hub')}`)
        .returning({ id: jobs.id, lockedUntil: sql<number>`${jobs.lockedUntil}`.mapWith(Number) }),
    ).execute({ ...values, hub: hub.id }),
  )
  const lockedUntil = new Map(deleted.map(one => [one.id, one.lockedUntil]))
  return leases.every(one => lockedUntil.get(one.id) === one.lockedUntil)
}

/** Returns a leased job to the queue. False if the lease was lost. */
export async function requeue(
  tx: Tx,
  hub: Pick<Hub, 'id'>,
  leased: Lease,
  change: { runAt: number; lastError?: string; attempts?: number },
): Promise<boolean> {
  const rows = await tx
    .update(jobs)
    .set({ state: 'ready', lockedBy: null, lockedUntil: null, lostRuns: 0, ...change })
    .where(isLeased(hub, leased))
    .returning({ id: jobs.id })
  return rows.length === 1
}

/** Marks a leased job as failed permanently, for the operator to review. */
export async function markFailed(tx: Tx, hub: Pick<Hub, 'id' | 'clock'>, leased: Lease, lastError: string): Promise<void> {
  const failedAt = hub.clock.now()
  await tx
    .update(jobs)
    .set({ state: 'failed', lockedBy: null, lockedUntil: null, lostRuns: 0, lastError, failedAt })
    .where(isLeased(hub, leased))
}

const isLeased = (hub: Pick<Hub, 'id'>, { id, lockedUntil }: Lease) =>
  and(eq(jobs.id, id), eq(jobs.lockedBy, hub.id), eq(jobs.lockedUntil, lockedUntil))

// A job lost this many times in a row probably crashes its process.
const maxLostRuns = 25
/**
 * Delay of a lost job (ms): about a second times the square of its earlier losses. It doesn’t keep others from running, and processes that
 * die for another reason need more than an hour to use up its runs. Half to one and a half times as long at random, so that a job that
 * crashes its process doesn’t take the same others with it each time.
 * @param random from 0 up to 1, like `Math.random`
 */
const lostDelay = (losses: number, random: number): number => Math.round(losses ** 2 * 1_000 * (0.5 + random))

/**
 * Returns jobs to the queue that this hub has leased without knowing it, because the connection was lost while the lease was
 * committed.
 * @param running ids of the jobs that this hub is running
 */
export async function releaseUnknown(tx: Tx, hub: Pick<Hub, 'id'>, running: readonly string[]): Promise<void> {
  await tx
    .update(jobs)
    .set({ state: 'ready', lockedBy: null, lockedUntil: null, attempts: sql`${jobs.attempts} - 1` })
    .where(and(eq(jobs.state, 'running'), eq(jobs.lockedBy, hub.id), notInArray(jobs.id, [...running])))
}

type Times = Record<'hub' | 'leaseTime' | 'liveSince', unknown>

/** The jobs of dead processes and with expired leases. */
const lostJobs = (read: Reader, times: Times) =>
  sql`${jobs.state} = 'running' and (${jobs.lockedUntil} < ${times.leaseTime} or (${jobs.lockedBy} <> ${times.hub}
    and ${notInArray(
      jobs.lockedBy,
      read
        .select({ id: hubs.id })
        .from(hubs)
        .where(sql`${hubs.seenAt} > ${times.liveSince}`),
    )}))`

const timesOf = (hub: Pick<Hub, 'id' | 'clock'>): Times => ({
  hub: hub.id,
  leaseTime: leaseTime(hub),
  liveSince: liveSince(hub),
})

/** Whether {@link reap} would return any jobs to the queue. */
export async function hasLostJobs(hub: Pick<Hub, 'id' | 'clock' | 'read'>): Promise<boolean> {
  const find = prepared(hub.read, 'lost-job', read => {
    const times = {
      hub: sql.placeholder('hub'),
      leaseTime: sql.placeholder('leaseTime'),
      liveSince: sql.placeholder('liveSince'),
    }
    return read.select({ id: jobs.id }).from(jobs).where(lostJobs(read, times)).limit(1)
  })
  return (await find.execute(timesOf(hub))).length > 0
}

/** Returns jobs of dead processes and with expired leases to the queue. Returns their number. */
export async function reap(tx: Tx, hub: Pick<Hub, 'id' | 'clock'>): Promise<number> {
  const now = hub.clock.now()
  const lost = lostJobs(tx, timesOf(hub))
  const lostRuns = sql`${jobs.lostRuns} + 1`
  // A lost run says nothing about the job, so only `lostRuns` counts it.
  const released = { lockedBy: null, lockedUntil: null, lostRuns, attempts: sql`${jobs.attempts} - 1` }
  const lastError = `Started ${maxLostRuns} times in a row and never finished.`
  await tx
    .update(jobs)
    .set({ ...released, state: 'failed', attempts: sql`${jobs.attempts} + ${jobs.lostRuns}`, failedAt: now, lastError })
    .where(and(lost, gte(jobs.lostRuns, maxLostRuns - 1)))
  const rows = await tx
    .update(jobs)
    .set({ ...released, state: 'ready' })
    .where(lost)
    .returning({ id: jobs.id, lostRuns: jobs.lostRuns })
  const delayed = rows
    .filter(row => row.lostRuns > 1)
    .map(row => ({ id: row.id, runAt: now + lostDelay(row.lostRuns - 1, Math.random()) }))
  await updateRows(tx, jobs, { name: 'lost', set: ['runAt'] }, delayed)
  return rows.length
}
