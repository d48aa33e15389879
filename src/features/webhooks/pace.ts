import { eq } from 'drizzle-orm'
import type { Tx } from '../../core/db/transaction'
import { heldStill } from './standing'
import { webhookEndpoints } from './tables'

/** When a try may begin (ms UTC), and whether that moment was kept for it. */
export interface Turn {
  at: number
  kept: boolean
}

// Turns are kept no further ahead, so that a raised limit takes effect soon; whoever comes after asks again.
const furthestMs = 30_000

/**
 * The next turn under a limit: a token bucket that holds one second's worth, told by the moment until which its tokens are given out.
 * @param takenUntilUs that moment in microseconds since 1970, or null when nothing was sent yet
 */
export function nextTurn(takenUntilUs: number | null, perSecond: number, nowMs: number): { at: number; takenUntilUs: number } {
  // Microseconds, since at 1,000 a second and more a millisecond is a coarse step.
  const until = Math.max(takenUntilUs ?? 0, nowMs * 1_000) + Math.ceil(1_000_000 / perSecond)
  return { at: Math.max(nowMs, Math.ceil((until - 1_000_000) / 1_000)), takenUntilUs: until }
}

/** Takes an endpoint's next turn, in the database: all hubs share one limit. At once where there is none. */
export async function takeTurn(tx: Tx, endpointId: string, now: number): Promise<Turn> {
  const endpoint = await heldStill(tx, endpointId)
  if (!endpoint || endpoint.maxPerSecond === null) return { at: now, kept: true }
  const { at, takenUntilUs } = nextTurn(believable(endpoint.pacedUntilUs, now), endpoint.maxPerSecond, now)
  if (at > now + furthestMs) return { at: now + Math.round(furthestMs * (1 + Math.random())), kept: false }
  await tx.update(webhookEndpoints).set({ pacedUntilUs: takenUntilUs }).where(eq(webhookEndpoints.id, endpointId))
  return { at, kept: true }
}

/** A moment that lies beyond all turns that can have been kept is of a clock that was set back since, and holds up nobody. */
const believable = (untilUs: number | null, now: number): number | null =>
  untilUs !== null && untilUs > (now + 2 * furthestMs) * 1_000 ? null : untilUs
