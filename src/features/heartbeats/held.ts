import { and, asc, desc, eq, isNotNull, lte } from 'drizzle-orm'
import { record } from '../../core/change'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { joined, type Drafts } from '../incidents/outage'
import { windowInForce } from '../maintenance/calendar'
import { raise } from './alerts'
import { flips, heartbeats } from './tables'
import type { Flip } from './state'
import type { HeartbeatRow } from './view'

// A heartbeat that goes down while a maintenance window covers it is told of after the window, if it is down then.

const mostAtOnce = 200
const longestGraceMs = 3600_000

/**
 * Until when the alert of a heartbeat that goes down is held back: a window that covers it is over by then, and its grace time, at
 * most an hour, has passed once more.
 * @param at ms UTC
 * @returns ms UTC; null where it is to be told at once
 */
export function heldUntil(hub: Hub, row: HeartbeatRow, at: number): number | null {
  const window = windowInForce(hub, { workspaceId: row.workspaceId, id: row.id, tags: row.tags, groupIds: [] }, at)
  return window && window.until + graceMsOf(row)
}

const graceMsOf = (row: HeartbeatRow): number => Math.min(row.schedule.grace_seconds * 1000, longestGraceMs)

/** Tells of heartbeats that are still down when their alert is held no longer. Returns how many were looked at. */
export const raiseHeld = (hub: Hub): Promise<number> =>
  record(hub, async tx => {
    const now = hub.clock.now()
    const rows = await tx
      .select()
      .from(heartbeats)
      .where(lte(heartbeats.heldUntil, now))
      .orderBy(asc(heartbeats.heldUntil), asc(heartbeats.id))
      .limit(mostAtOnce)
    const told: Drafts[] = []
    for (const row of rows) {
      // The window was made longer, or another one covers it by now.
      const until = heldUntil(hub, row, now)
      if (!(await hold(tx, row, until)) || until !== null) continue
      told.push(await raise(tx, hub, row, row, await lastFlip(tx, row), { confirmedAt: now }))
    }
    return { result: rows.length, ...joined(...told) }
  })

/** Looks again how long alerts are held: windows are stopped early, edited and deleted. */
export const reconsiderHeld = (hub: Hub): Promise<void> =>
  record(hub, async tx => {
    const now = hub.clock.now()
    const rows = await tx.select().from(heartbeats).where(isNotNull(heartbeats.heldUntil)).orderBy(asc(heartbeats.id))
    for (const row of rows) await hold(tx, row, heldUntil(hub, row, now) ?? Math.min(row.heldUntil!, now + graceMsOf(row)))
    return { result: undefined }
  })

/** Of several hubs that get here, and a ping that comes meanwhile, one changes the row. @returns whether it was this one */
async function hold(tx: Tx, row: HeartbeatRow, until: number | null): Promise<boolean> {
  if (until === row.heldUntil) return false
  const won = await tx
    .update(heartbeats)
    .set({ heldUntil: until })
    .where(and(eq(heartbeats.id, row.id), eq(heartbeats.heldUntil, row.heldUntil!)))
    .returning({ id: heartbeats.id })
  return won.length > 0
}

async function lastFlip(tx: Tx, row: HeartbeatRow): Promise<Flip> {
  const [flip] = await tx.select().from(flips).where(eq(flips.heartbeatId, row.id)).orderBy(desc(flips.id)).limit(1)
  // Flips are deleted after 93 days: no window is as long, but many can follow each other.
  return { at: row.statusSince, from: 'up', to: 'down', reason: 'late', ...(flip as Partial<Flip> | undefined) }
}
