import { and, asc, eq, inArray, isNull } from 'drizzle-orm'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { instant } from '../../../core/clock'
import { conflict, invalid } from '../../../core/problem'
import { callerOrigin } from '../changes/changed-event'
import { parseRrset } from '../records/parse-field'
import { changeZone, summaryOf } from '../changes/change-zone'
import { rrsetKey } from '../zones/names'
import { drivenKeys, rrsetsAt } from '../records/rows'
import { type ZoneRow, zoneOf, zoneRows } from '../zones/rows'
import { zoneTarget } from '../zones/zones'
import { isAliasExpansion, wantedFromObserved } from './adopt-observed'
import { foundIds } from '../targets/found-records'
import { plannedRrset } from '../plans/plan-forms'
import type { AdoptInput, Adopted, Drift } from './shapes'
import { dnsRrsets } from '../records/tables'
import { dnsTargetRrsets, dnsZoneTargets } from '../targets/tables'
import { foreignEntries, observedRrset, targetsOf } from '../targets/target-rows'
import { toProviderRrset } from '../plans/zone-edits'
import { foreignMark } from '../sync/fingerprint'
import { isSynced, syncStates } from '../sync/three-way'
import type { Tx } from '../../../core/db/transaction'
import { lockRow } from '../../../core/rows'

/** Maximum number of rrsets in a response. */
const maxDriftShown = 1000

/** Lists the rrsets of a zone that differ from the desired state, per target. @throws Problem 404 */
export async function getDrift(ctx: Ctx, zoneId: string): Promise<Drift> {
  const read = ctx.hub.read
  const zone = await zoneOf(read, ctx, zoneId)
  const targets = await targetsOf(read, zone.id)
  const { targetId, name, type, state } = dnsTargetRrsets
  const ids = targets.map(one => one.id)
  const rows = await read
    .select()
    .from(dnsTargetRrsets)
    .where(and(inArray(targetId, ids), inArray(state, unsynced)))
    .orderBy(asc(targetId), asc(name), asc(type))
    .limit(maxDriftShown + 1)
  const shown = rows.slice(0, maxDriftShown)
  const desired = await rrsetsAt(read, zone.id, shown)
  const foreign = await read
    .select()
    .from(dnsTargetRrsets)
    .where(and(inArray(targetId, ids), inArray(state, foreignStates), eq(dnsTargetRrsets.observed, foreignMark)))
    .orderBy(asc(targetId), asc(name), asc(type))
    .limit(maxDriftShown)
  const targetOf = (row: { targetId: string }) => targets.find(one => one.id === row.targetId)!
  return {
    zone_id: zone.id,
    rrsets: shown.map(row => {
      const wanted = desired.get(rrsetKey(row))
      const observed = observedRrset(row)
      const target = targetOf(row)
      return {
        target_id: row.targetId,
        provider_id: target.providerId,
        name: row.name,
        type: row.type,
        state: row.state,
        kind: row.kind,
        detail: row.detail,
        desired: wanted ? plannedRrset(toProviderRrset(wanted)) : null,
        observed: observed && plannedRrset(observed),
        since_at: instant(row.since),
        checked_at: instant(target.lastReadAt),
      }
    }),
    foreign: foreign
      .flatMap(row =>
        foreignEntries(row).map(entry => ({
          target_id: row.targetId,
          provider_id: targetOf(row).providerId,
          ...entry,
          checked_at: instant(targetOf(row).lastReadAt),
        })),
      )
      .slice(0, maxDriftShown),
    truncated: rows.length > shown.length,
  }
}

// `pending`: a record was added there since the last read.
const foreignStates = ['ignored', 'unsupported', 'pending'] as const

const unsynced = syncStates.filter(one => !isSynced(one))

/**
 * Updates the zone to match a provider, for the given rrsets or all that differ.
 * @throws Problem 404, 409 without a target, 412, 422 for rrsets that don't differ or would be invalid
 */
export async function adoptDrift(ctx: Ctx, zoneId: string, input: AdoptInput): Promise<Adopted> {
  return await change(ctx, 'dns.zone.adopt', async tx => {
    const zone = await lockRow(tx, ctx, zoneRows, zoneId)
    const ids = await foundIds(tx, zone.id)
    const wanted = (await rowsToAdopt(tx, zone, input)).map(one => wantedFromObserved(one, ids))
    const zoneChange = await changeZone(tx, ctx, zone, wanted, { source: 'import', origin: callerOrigin(ctx) })
    const summary = summaryOf(zoneChange)
    return {
      result: { zone_id: zone.id, ...summary },
      target: zoneTarget(zone),
      before: { serial: zone.serial },
      after: summary,
      ...zoneChange.effects,
      unchanged: zoneChange.unchanged,
    }
  })
}

const adoptableStates = ['drifted', 'conflict', 'unmanaged'] as const

/** Names where a target has addresses in place of an ALIAS: the ALIAS itself was never agreed on or observed there. */
async function expandedAt(tx: Tx, targetId: string): Promise<Set<string>> {
  const rows = await tx
    .select({ name: dnsTargetRrsets.name })
    .from(dnsTargetRrsets)
    .innerJoin(dnsZoneTargets, eq(dnsZoneTargets.id, dnsTargetRrsets.targetId))
    .innerJoin(
      dnsRrsets,
      and(
        eq(dnsRrsets.zoneId, dnsZoneTargets.zoneId),
        eq(dnsRrsets.name, dnsTargetRrsets.name),
        eq(dnsRrsets.type, dnsTargetRrsets.type),
      ),
    )
    .where(
      and(
        eq(dnsTargetRrsets.targetId, targetId),
        eq(dnsTargetRrsets.type, 'ALIAS'),
        isNull(dnsTargetRrsets.agreed),
        isNull(dnsTargetRrsets.observed),
      ),
    )
  return new Set(rows.map(row => row.name))
}

async function rowsToAdopt(tx: Tx, zone: ZoneRow, input: AdoptInput) {
  const targets = (await targetsOf(tx, zone.id)).filter(one => input.target_id === undefined || one.id === input.target_id)
  if (targets.length === 0) throw conflict('The zone has no such sync target, so there is nothing to adopt.')
  if (targets.length > 1)
    throw invalid([{ pointer: '#/target_id', code: 'required', detail: 'is required for a zone with several sync targets.' }])
  const differing = await tx
    .select()
    .from(dnsTargetRrsets)
    .where(and(eq(dnsTargetRrsets.targetId, targets[0]!.id), inArray(dnsTargetRrsets.state, [...adoptableStates])))
  const expanded = await expandedAt(tx, targets[0]!.id)
  const driven = await drivenKeys(tx, zone.id)
  const rows = differing.filter(row => !isAliasExpansion(row, expanded) && !driven.has(rrsetKey(row)))
  if (input.rrsets === undefined) {
    if (!input.all) throw invalid([{ pointer: '#/rrsets', code: 'required', detail: 'is required unless `all` is true.' }])
    return rows
  }
  if (input.all) throw invalid([{ pointer: '#/all', code: 'not_allowed', detail: 'must not be true if `rrsets` is set.' }])
  const found = new Map(rows.map(row => [rrsetKey(row), row]))
  const picked = new Map(
    input.rrsets.map((one, place) => {
      const pointer = `#/rrsets/${place}`
      const key = rrsetKey(parseRrset(one, pointer, zone))
      const row = found.get(key)
      if (!row) throw invalid([{ pointer, code: 'not_found', detail: 'must have drifted or be unmanaged at the target.' }])
      return [key, row]
    }),
  )
  return [...picked.values()]
}
