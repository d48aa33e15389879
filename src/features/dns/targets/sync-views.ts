import { and, count, eq, inArray, sql } from 'drizzle-orm'
import { instant } from '../../../core/clock'
import type { Reader } from '../../../core/db/transaction'
import { pluralize } from '../../../core/pluralize'
import { rrsetKey } from '../zones/names'
import { type ZoneRow } from '../zones/rows'
import { dnsPlans } from '../plans/tables'
import { dnsTargetRrsets, dnsZoneTargets } from './tables'
import { observedRrset, type TargetRow, type TargetRrset } from './target-rows'
import { isSynced, syncStates, worstOf } from '../sync/three-way'
import { zoneSyncState } from './zone-sync-state'
import { plannedRrset } from '../plans/plan-forms'
import type { BlockedView } from '../plans/op-shapes'
import type { RecordSyncView, TargetView, ZoneSyncView } from './shapes'

/** Sync status of a zone, and the plan that is blocked. */
export interface ZoneStanding {
  synced: boolean
  sync: ZoneSyncView
  blocked: BlockedView | null
}

/** Loads the sync status of zones: two queries for zones with targets, none for others. */
export async function zoneSyncViews(read: Reader, zones: readonly ZoneRow[]): Promise<(zone: ZoneRow) => ZoneStanding> {
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
    const syncState = zoneSyncState(enabled)
    const plan = blocked.find(one => one.id === zone.blockedPlanId)
    return {
      synced: syncState.isSynced,
      sync: { state: syncState.syncState, targets: own.map(viewOf) },
      blocked: plan ? { plan_id: plan.id, reasons: plan.reasons } : null,
    }
  }
}

/** Loads targets in API form, with a query for counts and one for errors only if something is out of sync. */
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
  const errors = await rejectedChanges(
    read,
    targets.filter(one => one.state === 'error' && one.error === null).map(one => one.id),
  )
  return row => ({
    ...targetView(row, counts.find(one => one.id === row.id)?.n ?? 0),
    error: row.error ?? errors.get(row.id) ?? null,
  })
}

/** Why the provider rejected changes: the error of the first record set of each target, by target. */
async function rejectedChanges(read: Reader, targetIds: readonly string[]): Promise<Map<string, TargetView['error']>> {
  if (targetIds.length === 0) return new Map()
  const { targetId, name, type, detail, state } = dnsTargetRrsets
  const ranked = read
    .select({
      targetId,
      name,
      type,
      detail,
      position: sql<number>`row_number() over (partition by ${targetId} order by ${name}, ${type})`.as('position'),
      total: sql<number>`count(*) over (partition by ${targetId})`.mapWith(Number).as('total'),
    })
    .from(dnsTargetRrsets)
    .where(and(inArray(targetId, [...targetIds]), eq(state, 'error')))
    .as('ranked')
  const rows = await read.select().from(ranked).where(eq(ranked.position, 1))
  return new Map(
    rows.map(row => {
      const others = row.total === 1 ? '' : ` (and ${pluralize(row.total - 1, 'more record sets')})`
      return [
        row.targetId,
        {
          code: 'change_rejected',
          detail: `${row.name} ${row.type}: ${row.detail ?? 'The provider rejected the change.'}${others}`,
        },
      ]
    }),
  )
}

const differing = syncStates.filter(state => !isSynced(state))

const targetView = (row: TargetRow, outOfSyncCount: number): Omit<TargetView, 'error'> => ({
  id: row.id,
  provider_id: row.providerId,
  state: row.state,
  out_of_sync_count: outOfSyncCount,
  stale: row.isStale,
  checked_at: instant(row.lastReadAt),
  last_sync_at: instant(row.lastSyncAt),
  serial: row.remoteSerial,
  throttled_until: instant(row.throttledUntil === 0 ? null : row.throttledUntil),
})

/** Sync status of records that only the hub serves. */
const servedHere: { synced: boolean; sync: RecordSyncView } = { synced: true, sync: { state: 'synced', targets: [] } }

/** Loads the sync status of rrsets in any zones. */
export async function recordSyncViews(
  read: Reader,
  zones: readonly { id: string; targetCount: number }[],
  named: readonly { name: string }[],
): Promise<(rrset: { zoneId: string; name: string; type: string }) => { synced: boolean; sync: RecordSyncView }> {
  const ids = zones.filter(one => one.targetCount > 0).map(one => one.id)
  if (ids.length === 0 || named.length === 0) return () => servedHere
  const targets = await read
    .select()
    .from(dnsZoneTargets)
    .where(and(inArray(dnsZoneTargets.zoneId, ids), eq(dnsZoneTargets.enabled, true)))
    .orderBy(dnsZoneTargets.id)
  const rows = await read
    .select()
    .from(dnsTargetRrsets)
    .where(and(inArray(dnsTargetRrsets.zoneId, ids), inArray(dnsTargetRrsets.name, [...new Set(named.map(one => one.name))])))
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
  const observed = row ? observedRrset(row) : null
  return {
    provider_id: target.providerId,
    state: row?.state ?? 'unknown',
    detail: row?.detail ?? null,
    observed: observed && plannedRrset(observed),
    checked_at: instant(target.lastReadAt),
  }
}
