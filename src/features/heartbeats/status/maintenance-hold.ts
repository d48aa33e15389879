import { and, asc, desc, eq, isNotNull, lte } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { joined, type Drafts } from '../../incidents/outages/outage'
import { activeWindow } from '../../maintenance/calendar'
import { raiseAlert } from './alerts'
import { flips, heartbeats } from '../tables'
import type { Flip } from './state'
import type { HeartbeatRow } from '../view'

// The alert of a heartbeat that goes down during a maintenance window is held until after the window, and skipped if it recovers first.

const batchSize = 200
const maxGraceMs = 3600_000

/**
 * Returns until when to hold the alert of a heartbeat that goes down at `at` (ms UTC): the end of the active window, plus the grace
 * period, at most an hour. Null: no window is active, so the alert is raised immediately.
 */
export function maintenanceHoldUntil(hub: Hub, row: HeartbeatRow, at: number): number | null {
  const window = activeWindow(hub, { workspaceId: row.workspaceId, id: row.id, tags: row.tags, groupIds: [] }, at)
  return window && window.until + graceMsOf(row)
}

const graceMsOf = (row: HeartbeatRow): number => Math.min(row.schedule.grace_seconds * 1000, maxGraceMs)

/** Raises the alerts of heartbeats that are still down at the end of their hold. Returns how many rows were processed. */
export const raiseHeldAlerts = (hub: Hub): Promise<number> =>
  record(hub, async tx => {
    const now = hub.clock.now()
    const rows = await tx
      .select()
      .from(heartbeats)
      .where(lte(heartbeats.alertHeldUntil, now))
      .orderBy(asc(heartbeats.alertHeldUntil), asc(heartbeats.id))
      .limit(batchSize)
    const drafts: Drafts[] = []
    for (const row of rows) {
      // The window may have been extended, or another one may be active by now.
      const until = maintenanceHoldUntil(hub, row, now)
      if (!(await setHold(tx, row, until)) || until !== null) continue
      drafts.push(await raiseAlert(tx, hub, row, row, await lastFlip(tx, row), { confirmedAt: now }))
    }
    return { result: rows.length, ...joined(...drafts) }
  })

/** Recalculates the holds after maintenance windows were stopped, updated, or deleted. */
export const updateMaintenanceHolds = (hub: Hub): Promise<void> =>
  record(hub, async tx => {
    const now = hub.clock.now()
    const rows = await tx.select().from(heartbeats).where(isNotNull(heartbeats.alertHeldUntil)).orderBy(asc(heartbeats.id))
    for (const row of rows)
      await setHold(tx, row, maintenanceHoldUntil(hub, row, now) ?? Math.min(row.alertHeldUntil!, now + graceMsOf(row)))
    return { result: undefined }
  })

/** Changes the hold unless another hub or a ping changed the row first. Returns whether it was changed. */
async function setHold(tx: Tx, row: HeartbeatRow, until: number | null): Promise<boolean> {
  if (until === row.alertHeldUntil) return false
  const updated = await tx
    .update(heartbeats)
    .set({ alertHeldUntil: until })
    .where(and(eq(heartbeats.id, row.id), eq(heartbeats.alertHeldUntil, row.alertHeldUntil!)))
    .returning({ id: heartbeats.id })
  return updated.length > 0
}

async function lastFlip(tx: Tx, row: HeartbeatRow): Promise<Flip> {
  const [flip] = await tx.select().from(flips).where(eq(flips.heartbeatId, row.id)).orderBy(desc(flips.id)).limit(1)
  // The flip may be gone: flips are deleted after 93 days, and windows in a row can last longer.
  return { at: row.statusSince, from: 'up', to: 'down', reason: 'late', ...(flip as Partial<Flip> | undefined) }
}
