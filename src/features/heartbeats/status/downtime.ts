import { and, isNotNull, ne, sql } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import { heartbeats } from '../tables'

/** Limits how late an alert can be after a long outage of the hub. */
export const maxExtensionMs = 3600_000

/**
 * Postpones due times by the time in which no hub could receive pings.
 * @param awayMs duration of the outage, which ended at `now`
 * @param maxMs longest extension
 * @returns number of heartbeats changed
 */
export async function extendDueTimes(tx: Tx, now: number, awayMs: number, maxMs = maxExtensionMs): Promise<number> {
  const by = Math.min(awayMs, maxMs)
  const moved = await tx
    .update(heartbeats)
    .set({
      downAt: sql`${heartbeats.downAt} + ${by}`,
      // Keep expected times from before the outage: those pings were already late.
      expectedAt: sql`case when ${heartbeats.expectedAt} > ${now - awayMs} then ${heartbeats.expectedAt} + ${by} else ${heartbeats.expectedAt} end`,
      updatedAt: now,
    })
    .where(and(isNotNull(heartbeats.downAt), ne(heartbeats.status, 'down')))
    .returning({ id: heartbeats.id })
  return moved.length
}
