import { asc, eq, lte } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'
import type { JobKind } from '../../../core/jobs/job'
import { dnsZones } from '../zones/tables'
import { syncTarget } from './sync-target'
import { syncJobFor, syncKind } from './sync-jobs'
import { dnsZoneTargets } from '../targets/tables'
import { targetsOf } from '../targets/target-rows'

const busyPauseMs = 500

/** Syncs a zone to its targets, or only reads them if changes are applied manually. */
export const syncZoneJob: JobKind<{ zone_id: string }> = {
  kind: syncKind,
  // Enough that unreachable providers don't block the others.
  concurrency: 16,
  // Large zones wait for the rate limit of their provider many times.
  leaseMs: 3_600_000,
  retryAfter: attempts => (attempts > 5 ? null : 60_000 * attempts),
  async run(hub, { payload }) {
    const [zone] = await hub.read.select().from(dnsZones).where(eq(dnsZones.id, payload.zone_id))
    if (!zone) return undefined
    let isBusy = false
    for (const target of await targetsOf(hub.read, zone.id)) {
      if (target.throttledUntil > hub.clock.now()) continue
      const outcome = await syncTarget(hub, target.id, { applies: 'automatic' })
      isBusy ||= outcome.status === 'busy'
    }
    return async () => ({ result: isBusy ? { again: hub.clock.now() + busyPauseMs } : undefined })
  },
}

const batchSize = 100

/** Queues syncs of targets that are due. */
export async function readDueTargets(hub: Hub): Promise<void> {
  const now = hub.clock.now()
  const due = await hub.read
    .select({ id: dnsZoneTargets.id, zoneId: dnsZoneTargets.zoneId })
    .from(dnsZoneTargets)
    .where(lte(dnsZoneTargets.nextPollAt, now))
    .orderBy(asc(dnsZoneTargets.nextPollAt))
    .limit(batchSize)
  if (due.length === 0) return
  await record(hub, async tx => {
    for (const { id } of due)
      // Provisional: the sync sets the actual time. If it never runs, it is queued again.
      await tx
        .update(dnsZoneTargets)
        .set({ nextPollAt: now + hub.config.dnsPollSeconds * 1000 })
        .where(eq(dnsZoneTargets.id, id))
    return { result: undefined, jobs: [...new Set(due.map(one => one.zoneId))].map(zoneId => syncJobFor(zoneId)) }
  })
}

/**
 * Queues a read of the targets of a zone, for example after a NOTIFY. Repeated calls are merged into one job.
 * @param zoneName in A-labels, with or without the trailing dot
 * @returns false if there is no such zone, or it has no targets
 */
export async function queueTargetRead(hub: Hub, zoneName: string): Promise<boolean> {
  const name = zoneName.toLowerCase().replace(/\.$/, '')
  const [zone] = await hub.read
    .select({ id: dnsZones.id, targetCount: dnsZones.targetCount })
    .from(dnsZones)
    .where(eq(dnsZones.name, name))
  if (!zone || zone.targetCount === 0) return false
  return await record(hub, async () => ({ result: true, jobs: [syncJobFor(zone.id)] }))
}
