import { eq } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import { lockEndpoint } from './holds'
import { webhookEndpoints } from '../endpoints/tables'

/** When an attempt may start (ms UTC), and whether that time is reserved for it. */
interface Slot {
  at: number
  reserved: boolean
}

// Slots are not reserved further ahead, so that a raised limit takes effect soon; later attempts try again.
const maxAheadMs = 30_000

/**
 * Returns the next free slot of a token bucket that holds one second's worth of tokens.
 * @param reservedUntilUs until when tokens are reserved, in microseconds since 1970; null if nothing was sent yet
 */
export function nextSlot(
  reservedUntilUs: number | null,
  perSecond: number,
  nowMs: number,
): { at: number; reservedUntilUs: number } {
  // Microseconds, because milliseconds are too coarse at 1,000 a second.
  const until = Math.max(reservedUntilUs ?? 0, nowMs * 1_000) + Math.ceil(1_000_000 / perSecond)
  return { at: Math.max(nowMs, Math.ceil((until - 1_000_000) / 1_000)), reservedUntilUs: until }
}

/** Reserves the next slot of an endpoint in the database, because all hubs share the limit. Immediate if there is no limit. */
export async function reserveSlot(tx: Tx, endpointId: string, now: number): Promise<Slot> {
  const endpoint = await lockEndpoint(tx, endpointId)
  if (!endpoint || endpoint.maxPerSecond === null) return { at: now, reserved: true }
  const { at, reservedUntilUs } = nextSlot(plausible(endpoint.rateReservedUntilUs, now), endpoint.maxPerSecond, now)
  if (at > now + maxAheadMs) return { at: now + Math.round(maxAheadMs * (1 + Math.random())), reserved: false }
  await tx.update(webhookEndpoints).set({ rateReservedUntilUs: reservedUntilUs }).where(eq(webhookEndpoints.id, endpointId))
  return { at, reserved: true }
}

/** Ignores a time further ahead than any reservation can be: the clock was set back. */
const plausible = (untilUs: number | null, now: number): number | null =>
  untilUs !== null && untilUs > (now + 2 * maxAheadMs) * 1_000 ? null : untilUs
