import { eq } from 'drizzle-orm'
import { operatorWorkspace } from '../../access/workspaces'
import { record } from '../../core/change'
import { forUpdate } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { Allowance } from '../../core/jobs/lanes'
import type { NoticeDraft } from '../../core/notices'
import type { Reading } from './reading'
import { paceOf } from './sources'
import { registryHosts } from './tables'

type HostRow = typeof registryHosts.$inferSelect

export const dayMs = 86_400_000
const maxWaitMs = 30_000
const firstBlockMs = 60_000
const maxBlockMs = 3_600_000
const maxRetryAfterMs = dayMs
/** After this many failures in a row, a server is blocked. */
const toleratedFailures = 3
/** After this many, operators get a notice. */
const reportedFailures = 10

/**
 * How many queries all hubs together can start now at a server. Call it in the transaction that counts them.
 * @param locked while another transaction has locked the server: whether to wait. Transactions with other locks must not.
 */
export async function hostAllowance(tx: Tx, hub: Hub, server: string, locked: 'wait' | 'skip' = 'skip'): Promise<Allowance> {
  const row = await lockHost(tx, hub, server, locked)
  if (row === null) return { left: 0, until: null }
  const now = hub.clock.now()
  const { everyMs, burst, perDay } = paceOf(hub.config, server)
  if (row.blockedUntil !== null && row.blockedUntil > now) return { left: 0, until: row.blockedUntil }
  const leftToday = perDay - usedToday(row, now)
  if (leftToday <= 0) return { left: 0, until: (dayOf(now) + 1) * dayMs }
  const ahead = Math.max(row.paceAt - now, 0)
  const byPace = Math.floor(burst - ahead / everyMs)
  if (byPace <= 0) return { left: 0, until: Math.ceil(now + ahead - (burst - 1) * everyMs) }
  // After failures, a single query finds out whether the server works again.
  return { left: Math.min(byPace, leftToday, row.failures > 0 ? 1 : Infinity), until: null }
}

/** Counts queries that start now. */
export async function countQueries(tx: Tx, hub: Hub, server: string, count: number): Promise<void> {
  const [row] = await forUpdate(tx.select().from(registryHosts).where(eq(registryHosts.server, server)))
  if (!row) return
  const now = hub.clock.now()
  await tx
    .update(registryHosts)
    .set({
      // Rounded up, or a fraction would be lost with each query.
      paceAt: Math.ceil(Math.max(row.paceAt, now) + count * paceOf(hub.config, server).everyMs),
      day: dayOf(now),
      usedToday: usedToday(row, now) + count,
    })
    .where(eq(registryHosts.server, server))
}

/** Waits for a turn outside of the queue, for up to 30 seconds, and counts the query. False if there is none in this time. */
export async function takeTurn(hub: Hub, server: string): Promise<boolean> {
  for (let leftMs = maxWaitMs; ;) {
    const { left, until } = await record(hub, async tx => {
      const allowance = await hostAllowance(tx, hub, server, 'wait')
      if (allowance.left > 0) await countQueries(tx, hub, server, 1)
      return { result: allowance }
    })
    if (left > 0) return true
    const waitMs = Math.max((until ?? 0) - hub.clock.now(), 100)
    leftMs -= waitMs
    if (leftMs < 0) return false
    await new Promise<void>(resolve => hub.clock.after(waitMs, resolve))
  }
}

/**
 * Stores whether a server works, and blocks it for a while if it doesn’t. Results of queries that had already been sent when it was blocked
 * don’t shorten the block.
 * @returns a notice to operators when it has failed many times in a row
 */
export async function noteOutcome(tx: Tx, hub: Hub, server: string, reading: Reading): Promise<NoticeDraft[]> {
  const [row] = await forUpdate(tx.select().from(registryHosts).where(eq(registryHosts.server, server)))
  if (!row) return []
  const now = hub.clock.now()
  const isBlocked = (row.blockedUntil ?? 0) > now
  await tx
    .update(registryHosts)
    .set(
      reading.state !== 'unknown' || reading.isAboutName
        ? { ...(!isBlocked && { failures: 0, blockedUntil: null, lastError: null }), lastOkAt: now }
        : {
            failures: row.failures + 1,
            blockedUntil: Math.max(isBlocked ? row.blockedUntil! : 0, blockAfter(row, reading, now) ?? 0) || null,
            lastError: reading.detail,
          },
    )
    .where(eq(registryHosts.server, server))
  const hasFailed = reading.state === 'unknown' && !reading.isAboutName
  return hasFailed && row.failures + 1 === reportedFailures ? [await failingNotice(tx, server, reading.detail)] : []
}

async function failingNotice(tx: Tx, server: string, reason: string): Promise<NoticeDraft> {
  const { id: workspaceId } = await operatorWorkspace(tx)
  const host = server.slice(server.indexOf(':') + 1)
  return {
    ...{ workspaceId, kind: 'registry.failing', resource: null, dedupKey: server },
    text: `The registry server ${host} has failed ${reportedFailures} times in a row, so what is known about its domains becomes outdated. ${reason}`,
    details: { server: host, protocol: server.slice(0, server.indexOf(':')), failures: reportedFailures, reason },
  }
}

function blockAfter({ failures }: HostRow, reading: Reading & { state: 'unknown' }, now: number): number | null {
  const { isThrottled = false, retryAfterMs = null } = reading
  if (isThrottled && retryAfterMs !== null) return now + Math.min(Math.max(retryAfterMs, 1000), maxRetryAfterMs)
  const doublings = isThrottled ? failures : failures + 1 - toleratedFailures
  return doublings < 0 ? null : now + Math.min(firstBlockMs * 2 ** doublings, maxBlockMs)
}

const dayOf = (at: number): number => Math.floor(at / dayMs)
/** @param now ms UTC */
export const usedToday = ({ day, usedToday: used }: HostRow, now: number): number => (day === dayOf(now) ? used : 0)

/** Locks the row of a server until the transaction ends. With `skip`, null while another one holds the lock. */
async function lockHost(tx: Tx, hub: Hub, server: string, locked: 'wait' | 'skip'): Promise<HostRow | null> {
  const own = eq(registryHosts.server, server)
  const [unlocked] = await forUpdate(tx.select().from(registryHosts).where(own), locked)
  if (unlocked) return unlocked
  const created = { paceAt: hub.clock.now(), day: 0, usedToday: 0, failures: 0 }
  const [row] = await tx
    .insert(registryHosts)
    .values({ server, ...created, blockedUntil: null, lastError: null, lastOkAt: null })
    .onConflictDoNothing()
    .returning()
  if (row) return row
  const [other] = await forUpdate(tx.select().from(registryHosts).where(own), locked)
  return other ?? null
}
