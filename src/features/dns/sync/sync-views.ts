import { and, count, eq, inArray } from 'drizzle-orm'
import { instant } from '../../../core/clock'
import type { Reader } from '../../../core/db/transaction'
import { rrsetKey, type ZoneRow } from '../zone-rows'
import { dnsPlans, dnsTargetRrsets, dnsZoneTargets } from './tables'
import { observedOf, type TargetRow, type TargetRrset } from './target-rows'
import { isSynced, syncStates, worstOf } from './three-way'
import { standingAt } from './zone-standing'
import { plannedForm } from './plan-forms'
import type { BlockedView, RecordSyncView, TargetView, ZoneSyncView } from './sync-shapes'

/** How a zone stands at its targets, and the plan that is held back. */
export interface ZoneStanding {
  synced: boolean
  sync: ZoneSyncView
  blocked: BlockedView | null
}

/** How zones stand, with two queries for those that have targets, and none for the others. */
export async function standingsOf(read: Reader, zones: readonly ZoneRow[]): Promise<(zone: ZoneRow) => ZoneStanding> {
  const ids = zones.filter(one => one.targetCount > 0).map(one => one.id)
  const plans = zones.flatMap(one => one.blockedPlanId ?? [])
  const targets =
    ids.length === 0
      ? []
      : await read.select().from(dnsZoneTargets).where(inArray(dnsZoneTargets.zoneId, ids)).orderBy(dnsZoneTargets.id)
  const viewOf = await targetViews(read, targets)
  const blocked =
    plans.length === 0
      ? []
      : await read.select({ id: dnsPlans.id, reasons: dnsPlans.blocked }).from(dnsPlans).where(inArray(dnsPlans.id, plans))
  return zone => {
    const own = targets.filter(one => one.zoneId === zone.id)
    const enabled = own.filter(one => one.enabled)
    const standing = standingAt(enabled)
    const plan = blocked.find(one => one.id === zone.blockedPlanId)
    return {
      synced: standing.isSynced,
      sync: { state: standing.syncState, targets: own.map(viewOf) },
      blocked: plan ? { plan_id: plan.id, reasons: plan.reasons } : null,
    }
  }
}

/** Targets as the API shows them, with a query for what differs where anything does. */
export async function targetViews(read: Reader, targets: readonly TargetRow[]): Promise<(row: TargetRow) => TargetView> {
  // The state of a target is the worst of its rrsets.
  const ids = targets.filter(one => !isSynced(one.state)).map(one => one.id)
  const counts =
    ids.length === 0
      ? []
      : await read
          .select({ id: dnsTargetRrsets.targetId, n: count() })
          .from(dnsTargetRrsets)
          .where(and(inArray(dnsTargetRrsets.targetId, ids), inArray(dnsTargetRrsets.state, differing)))
          .groupBy(dnsTargetRrsets.targetId)
  return row => targetView(row, counts.find(one => one.id === row.id)?.n ?? 0)
}

const differing = syncStates.filter(state => !isSynced(state))

const targetView = (row: TargetRow, differentCount: number): TargetView => ({
  id: row.id,
  provider_id: row.providerId,
  state: row.state,
  different_count: differentCount,
  stale: row.isStale,
  checked_at: instant(row.lastReadAt),
  last_sync_at: instant(row.lastSyncAt),
  serial: row.remoteSerial,
  error: row.error,
})

/** How records stand that the hub alone serves. */
export const standsHere: { synced: boolean; sync: RecordSyncView } = { synced: true, sync: { state: 'synced', targets: [] } }

/** How rrsets of any zones stand at their targets. */
export async function recordStandings(
  read: Reader,
  zones: readonly { id: string; targetCount: number }[],
  names: readonly string[],
): Promise<(rrset: { zoneId: string; name: string; type: string }) => { synced: boolean; sync: RecordSyncView }> {
  const ids = zones.filter(one => one.targetCount > 0).map(one => one.id)
  if (ids.length === 0 || names.length === 0) return () => standsHere
  const targets = await read
    .select()
    .from(dnsZoneTargets)
    .where(and(inArray(dnsZoneTargets.zoneId, ids), eq(dnsZoneTargets.enabled, true)))
    .orderBy(dnsZoneTargets.id)
  const rows = await read
    .select()
    .from(dnsTargetRrsets)
    .where(and(inArray(dnsTargetRrsets.zoneId, ids), inArray(dnsTargetRrsets.name, [...new Set(names)])))
  const found = new Map(rows.map(row => [`${row.targetId} ${rrsetKey(row)}`, row]))
  return rrset => {
    const shown = targets
      .filter(one => one.zoneId === rrset.zoneId)
      .map(one => at(one, found.get(`${one.id} ${rrsetKey(rrset)}`)))
    return {
      synced: shown.every(one => isSynced(one.state)),
      sync: { state: worstOf(shown.map(one => one.state)), targets: shown },
    }
  }
}

function at(target: TargetRow, row: TargetRrset | undefined): RecordSyncView['targets'][number] {
  const observed = row ? observedOf(row) : null
  return {
    provider_id: target.providerId,
    state: row?.state ?? 'unknown',
    detail: row?.detail ?? null,
    observed: observed && plannedForm(observed),
    checked_at: instant(target.lastReadAt),
  }
}
