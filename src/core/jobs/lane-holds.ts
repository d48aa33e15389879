import { and, eq, inArray, lte } from 'drizzle-orm'
import { locking } from '../db/dialect'
import { heldLanes } from '../db/tables'
import type { Tx } from '../db/transaction'

/** Holds a lane back: nothing of it is taken before `until` (ms UTC), and from then on one job at a time, until it is freed. */
export async function holdLane(tx: Tx, kind: string, lane: string, until: number): Promise<void> {
  await tx
    .insert(heldLanes)
    .values({ kind, lane, heldUntil: until })
    .onConflictDoUpdate({ target: [heldLanes.kind, heldLanes.lane], set: { heldUntil: until } })
}

/**
 * Keeps the hold of a lane, whose time was up at `now` (ms UTC), from being changed until the transaction ends. False when the lane was
 * freed or held anew meanwhile, or another transaction is about to do so.
 */
export async function keepHold(tx: Tx, kind: string, lane: string, now: number): Promise<boolean> {
  const held = and(eq(heldLanes.kind, kind), eq(heldLanes.lane, lane), lte(heldLanes.heldUntil, now))
  const rows = await locking(tx.select({ lane: heldLanes.lane }).from(heldLanes).where(held), 'skip')
  return rows.length === 1
}

/** Lets another job of a lane that is held be tried from `at` (ms UTC) on; a lane that is not held stays so. */
export async function tryAnother(tx: Tx, kind: string, lane: string, at: number): Promise<void> {
  await tx
    .update(heldLanes)
    .set({ heldUntil: at })
    .where(and(eq(heldLanes.kind, kind), eq(heldLanes.lane, lane)))
}

/** Lets lanes run as others do. */
export async function freeLanes(tx: Tx, kind: string, lanes: string[]): Promise<void> {
  await tx.delete(heldLanes).where(and(eq(heldLanes.kind, kind), inArray(heldLanes.lane, lanes)))
}
