import { asc, eq, lte } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'
import type { JobKind } from '../../../core/jobs/job'
import { dnsZones } from '../tables'
import { syncTarget } from './sync-target'
import { syncJobFor, syncKind } from './sync-jobs'
import { dnsZoneTargets } from './tables'
import { targetsOf } from './target-rows'

const busyPauseMs = 500

/** Brings a zone to its targets, or reads them where that is left to people. */
export const syncZoneJob: JobKind<{ zone_id: string }> = {
  kind: syncKind,
  // One that does not answer must not keep others from being read.
  concurrency: 16,
  leaseMs: 600_000,
  retryAfter: attempts => (attempts > 5 ? null : 60_000 * attempts),
  async run(hub, { payload }) {
    const [zone] = await hub.read.select().from(dnsZones).where(eq(dnsZones.id, payload.zone_id))
    if (!zone) return undefined
    let isBusy = false
    for (const target of await targetsOf(hub.read, zone.id)) {
      if (target.restsUntil > hub.clock.now()) continue
      const outcome = await syncTarget(hub, target.id, { applies: 'automatic' })
      isBusy ||= outcome.did === 'busy'
    }
    return async () => ({ result: isBusy ? { again: hub.clock.now() + busyPauseMs } : undefined })
  },
}

const mostAtOnce = 100

/** Asks for the reading of targets whose time has come. */
export async function readDueTargets(hub: Hub): Promise<void> {
  const now = hub.clock.now()
  const due = await hub.read
    .select({ id: dnsZoneTargets.id, zoneId: dnsZoneTargets.zoneId })
    .from(dnsZoneTargets)
    .where(lte(dnsZoneTargets.nextPollAt, now))
    .orderBy(asc(dnsZoneTargets.nextPollAt))
    .limit(mostAtOnce)
  if (due.length === 0) return
  await record(hub, async tx => {
    for (const { id } of due)
      // Until the reading tells when the next one is; if it never comes, it is asked for again.
      await tx
        .update(dnsZoneTargets)
        .set({ nextPollAt: now + hub.config.dnsPollSeconds * 1000 })
        .where(eq(dnsZoneTargets.id, id))
    return { result: undefined, jobs: [...new Set(due.map(one => one.zoneId))].map(zoneId => syncJobFor(zoneId)) }
  })
}

/**
 * Reads the targets of a zone at once, for whoever was told that something has changed there; many calls in a short time are one reading.
 * @param zoneName in A-labels, with or without the dot at the end
 * @returns false for a zone that is kept nowhere but here, or not at all
 */
export async function readTargetsSoon(hub: Hub, zoneName: string): Promise<boolean> {
  const name = zoneName.toLowerCase().replace(/\.$/, '')
  const [zone] = await hub.read
    .select({ id: dnsZones.id, targetCount: dnsZones.targetCount })
    .from(dnsZones)
    .where(eq(dnsZones.name, name))
  if (!zone || zone.targetCount === 0) return false
  return await record(hub, async () => ({ result: true, jobs: [syncJobFor(zone.id)] }))
}
