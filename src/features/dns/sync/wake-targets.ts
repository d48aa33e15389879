import { and, desc, eq, gt } from 'drizzle-orm'
import { limiterOf } from '../../../access/limiter'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { JobDraft } from '../../../core/jobs/queue'
import { syncJobFor } from './sync-jobs'
import { dnsZoneTargets } from './tables'
import type { TargetRow } from './target-rows'
import { isOfProvider } from './trouble'

// The first of the others that is read wakes the rest.
const mostAtOnce = 1_000

/** Has all zones read at once that wait because their provider could not be asked, for when it can be again. */
export async function wakeTargets(tx: Tx, providerId: string): Promise<JobDraft[]> {
  const waiting = await tx
    .select({ zoneId: dnsZoneTargets.zoneId, error: dnsZoneTargets.error })
    .from(dnsZoneTargets)
    .where(and(eq(dnsZoneTargets.providerId, providerId), eq(dnsZoneTargets.enabled, true), gt(dnsZoneTargets.failuresInARow, 0)))
    .orderBy(desc(dnsZoneTargets.nextPollAt))
    .limit(mostAtOnce)
  // Who asked to be left alone has said until when.
  return waiting
    .filter(({ error }) => error && error.code !== 'throttled' && isOfProvider(error.code))
    .map(({ zoneId }) => syncJobFor(zoneId))
}

/**
 * The same after one of them was read well: once a minute and provider, since one that answers now and then is not to be asked ever faster.
 * @param target as it was before
 * @param isOnlyRead so that what waits for it is still to be brought there
 */
export async function wakeAfterReading(
  tx: Tx,
  hub: Hub,
  { zoneId, providerId, error }: TargetRow,
  isOnlyRead: boolean,
): Promise<JobDraft[]> {
  if (!error) return []
  const own = isOnlyRead ? [syncJobFor(zoneId)] : []
  const others = isOfProvider(error.code) ? (await wakeTargets(tx, providerId)).filter(one => one.uniqueKey !== zoneId) : []
  if (others.length === 0) return own
  const wakes = { name: 'dns-provider-wakes', key: providerId, quota: 1, windowSeconds: 60 }
  return limiterOf(hub).take([wakes], hub.clock.now()).allowed ? [...own, ...others] : own
}
