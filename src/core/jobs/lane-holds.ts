import { and, eq, inArray, lte } from 'drizzle-orm'
import { forUpdate } from '../db/dialect'
import { heldLanes } from '../db/tables'
import type { Tx } from '../db/transaction'

/** Holds a lane: no jobs are claimed before `until` (ms UTC), and then one at a time until the lane is released. */
export async function holdLane(tx: Tx, kind: string, lane: string, until: number): Promise<void> {
  await tx
    .insert(heldLanes)
    .values({ kind, lane, heldUntil: until })
    .onConflictDoUpdate({ target: [heldLanes.kind, heldLanes.lane], set: { heldUntil: until } })
}

/**
 * Locks the hold of a lane, which expired by `now` (ms UTC), until the transaction ends. False if the lane was released or held
 * again in the meantime, or if another transaction is doing so.
 */
export async function lockLaneHold(tx: Tx, kind: string, lane: string, now: number): Promise<boolean> {
  const expired = and(eq(heldLanes.kind, kind), eq(heldLanes.lane, lane), lte(heldLanes.heldUntil, now))
  const rows = await forUpdate(tx.select({ lane: heldLanes.lane }).from(heldLanes).where(expired), 'skip')
  return rows.length === 1
}

/** Allows the next job of a held lane from `at` (ms UTC) on. Does nothing if the lane is not held. */
export async function retryLaneAt(tx: Tx, kind: string, lane: string, at: number): Promise<void> {
  await tx
    .update(heldLanes)
    .set({ heldUntil: at })
    .where(and(eq(heldLanes.kind, kind), eq(heldLanes.lane, lane)))
}

/** Releases held lanes. */
export async function releaseLanes(tx: Tx, kind: string, lanes: string[]): Promise<void> {
  await tx.delete(heldLanes).where(and(eq(heldLanes.kind, kind), inArray(heldLanes.lane, lanes)))
}
