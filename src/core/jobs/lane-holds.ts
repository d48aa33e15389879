import { and, eq, inArray } from 'drizzle-orm'
import { heldLanes } from '../db/tables'
import type { Tx } from '../db/transaction'

/** Holds a lane back: nothing of it is taken before `until` (ms UTC), and from then on one job at a time, until it is freed. */
export async function holdLane(tx: Tx, kind: string, lane: string, until: number): Promise<void> {
  await tx
    .insert(heldLanes)
    .values({ kind, lane, heldUntil: until })
    .onConflictDoUpdate({ target: [heldLanes.kind, heldLanes.lane], set: { heldUntil: until } })
}

/** Lets lanes run as others do. */
export async function freeLanes(tx: Tx, kind: string, lanes: string[]): Promise<void> {
  await tx.delete(heldLanes).where(and(eq(heldLanes.kind, kind), inArray(heldLanes.lane, lanes)))
}
