import { and, desc, eq, gt } from 'drizzle-orm'
import { limiterOf } from '../../../access/limiter'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { JobDraft } from '../../../core/jobs/draft'
import { syncJobFor } from './sync-jobs'
import { dnsZoneTargets } from '../targets/tables'
import type { TargetRow } from '../targets/target-rows'
import { isProviderWide } from './target-failures'

// If there are more, the next successful read continues.
const batchSize = 1_000

/** Queues syncs of all zones whose last attempt failed because of this provider. */
export async function retryFailingTargets(tx: Tx, providerId: string): Promise<JobDraft[]> {
  const waiting = await tx
    .select({ zoneId: dnsZoneTargets.zoneId, error: dnsZoneTargets.error })
    .from(dnsZoneTargets)
    .where(
      and(eq(dnsZoneTargets.providerId, providerId), eq(dnsZoneTargets.enabled, true), gt(dnsZoneTargets.consecutiveFailures, 0)),
    )
    .orderBy(desc(dnsZoneTargets.nextPollAt))
    .limit(batchSize)
  // Rate-limited targets know when to retry.
  return waiting
    .filter(({ error }) => error && error.code !== 'throttled' && isProviderWide(error.code))
    .map(({ zoneId }) => syncJobFor(zoneId))
}

/**
 * Does the same after one target was read successfully, at most once a minute per provider, to go easy on a flapping one.
 * @param target before the read
 * @param isOnlyRead pending changes still have to be applied
 */
export async function retryAfterRead(
  tx: Tx,
  hub: Hub,
  { zoneId, providerId, error }: TargetRow,
  isOnlyRead: boolean,
): Promise<JobDraft[]> {
  if (!error) return []
  const own = isOnlyRead ? [syncJobFor(zoneId)] : []
  const others = isProviderWide(error.code)
    ? (await retryFailingTargets(tx, providerId)).filter(one => one.uniqueKey !== zoneId)
    : []
  if (others.length === 0) return own
  const wakes = { name: 'dns-provider-wakes', key: providerId, quota: 1, windowSeconds: 60 }
  return limiterOf(hub).take([wakes], hub.clock.now()).allowed ? [...own, ...others] : own
}
