import { gt } from 'drizzle-orm'
import { hubs } from './db/tables'
import type { Hub } from './hub'

/**
 * A hub that hasn't renewed its presence for this long is considered dead. Hubs renew it every second, so one whose main thread is
 * blocked for a few seconds still counts as running.
 */
export const hubTimeoutMs = 6_000
// A pause this long may have stopped other hubs too: leave them time to renew.
const pauseMs = 4_000

interface Renewals {
  lastAt: number
  /** The last pause between two renewals. */
  paused: { from: number; to: number } | null
}

const renewalsOf = new WeakMap<object, Renewals>()

/** Records that a hub renewed its presence (ms UTC). */
export function noteRenewal(hub: object, at: number): void {
  const last = renewalsOf.get(hub)
  const paused = last && at - last.lastAt >= pauseMs ? { from: last.lastAt, to: at } : (last?.paused ?? null)
  renewalsOf.set(hub, { lastAt: at, paused })
}

/**
 * The time by which to judge the leases and the presence of other hubs (ms UTC). Normally now. If this hub could not renew its own
 * presence, the others probably couldn't either, for example because the database was unavailable: their leases are judged as
 * of the start of the pause, until they had time to renew them.
 */
export function leaseTime(hub: Pick<Hub, 'clock'>): number {
  const now = hub.clock.now()
  const renewals = renewalsOf.get(hub)
  if (!renewals) return now
  const { lastAt, paused } = renewals
  if (now - lastAt >= pauseMs) return lastAt
  return paused && now >= paused.to && now - paused.to < pauseMs ? paused.from : now
}

/** Hubs whose presence was last renewed after this time (ms UTC) are running. */
export const liveSince = (hub: Pick<Hub, 'clock'>): number => leaseTime(hub) - hubTimeoutMs

/** Returns whether other hubs are running on the same database. */
export async function hasOtherHubs(hub: Pick<Hub, 'clock' | 'id' | 'read'>): Promise<boolean> {
  const rows = await hub.read
    .select({ id: hubs.id })
    .from(hubs)
    .where(gt(hubs.seenAt, liveSince(hub)))
    .limit(2)
  return rows.some(row => row.id !== hub.id)
}
