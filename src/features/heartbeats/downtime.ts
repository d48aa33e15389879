import { and, isNotNull, ne, sql } from 'drizzle-orm'
import type { Tx } from '../../core/db/transaction'
import { heartbeats } from './tables'

// An outage longer than this is a matter of its own; alerts are then late by no more than this.
const longestExtensionMs = 3600_000

/**
 * Puts off what was due while no hub could be pinged.
 * @param awayMs how long nobody was there, up to `now`
 * @returns how many heartbeats were put off
 */
export async function extendDueTimes(tx: Tx, now: number, awayMs: number): Promise<number> {
  const by = Math.min(awayMs, longestExtensionMs)
  const moved = await tx
    .update(heartbeats)
    .set({
      downAt: sql`${heartbeats.downAt} + ${by}`,
      // An expected time that had passed before the outage stays: that ping was late by itself.
      expectedAt: sql`case when ${heartbeats.expectedAt} > ${now - awayMs} then ${heartbeats.expectedAt} + ${by} else ${heartbeats.expectedAt} end`,
      updatedAt: now,
    })
    .where(and(isNotNull(heartbeats.downAt), ne(heartbeats.status, 'down')))
    .returning({ id: heartbeats.id })
  return moved.length
}
