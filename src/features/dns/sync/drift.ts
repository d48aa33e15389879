import { and, asc, eq, inArray, isNull } from 'drizzle-orm'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { instant } from '../../../core/clock'
import { requireMatch } from '../../../core/if-match'
import { conflict, invalid } from '../../../core/problem'
import { originOfCaller } from '../changed-event'
import { typeOf } from '../record-values'
import { countsOf } from '../rrsets'
import { ruleKept } from '../rule-problems'
import { changeZone } from '../zone-changes'
import { rrsetKey, rrsetsAt, zoneHeld, type ZoneRow } from '../zone-rows'
import { recordNameOf } from '../zone-names'
import { zoneOf, zoneTarget } from '../zones'
import { standsForAlias, wantedAsObserved } from './adopt-observed'
import { foundIds } from './found-records'
import { plannedForm } from './plan-forms'
import type { AdoptInput, Adopted, Drift } from './shapes'
import { dnsRrsets } from '../tables'
import { dnsTargetRrsets, dnsZoneTargets } from './tables'
import { observedOf, targetsOf } from './target-rows'
import { rrsetKept } from './zone-edits'
import { isSynced, syncStates } from './three-way'
import type { Tx } from '../../../core/db/transaction'

/** Rrsets that one answer tells of. */
export const mostDriftShown = 1000

/** What of a zone is not as it is to be, at each of its providers. @throws Problem 404 */
export async function driftOf(ctx: Ctx, zoneId: string): Promise<Drift> {
  const read = ctx.hub.read
  const zone = await zoneOf(read, ctx, zoneId)
  const targets = await targetsOf(read, zone.id)
  const rows =
    targets.length === 0
      ? []
      : await read
          .select()
          .from(dnsTargetRrsets)
          .where(
            and(
              inArray(
                dnsTargetRrsets.targetId,
                targets.map(one => one.id),
              ),
              inArray(dnsTargetRrsets.state, unsynced),
            ),
          )
          .orderBy(asc(dnsTargetRrsets.targetId), asc(dnsTargetRrsets.name), asc(dnsTargetRrsets.type))
          .limit(mostDriftShown + 1)
  const shown = rows.slice(0, mostDriftShown)
  const desired = await rrsetsAt(
    read,
    zone.id,
    shown.map(one => one.name),
  )
  return {
    zone_id: zone.id,
    rrsets: shown.map(row => {
      const wanted = desired.get(rrsetKey(row))
      const observed = observedOf(row)
      const target = targets.find(one => one.id === row.targetId)!
      return {
        target_id: row.targetId,
        provider_id: target.providerId,
        name: row.name,
        type: row.type,
        state: row.state,
        kind: row.kind,
        detail: row.detail,
        desired: wanted ? plannedForm(rrsetKept(wanted)) : null,
        observed: observed && plannedForm(observed),
        since: instant(row.since),
        checked_at: instant(target.lastReadAt),
      }
    }),
    truncated: rows.length > shown.length,
  }
}

const unsynced = syncStates.filter(one => !isSynced(one))

/**
 * Makes the zone here as it is at a provider, for the rrsets that are named or for all that differ.
 * @throws Problem 404, 409 without a target, 412, 422 for rrsets that do not differ, or break a rule
 */
export async function adoptDrift(ctx: Ctx, zoneId: string, input: AdoptInput): Promise<Adopted> {
  return await change(ctx, 'dns.zone.adopt', async tx => {
    const zone = await zoneHeld(tx, ctx, zoneId)
    requireMatch(ctx, zone)
    const ids = await foundIds(tx, zone.id)
    const wanted = (await adoptedRows(tx, zone, input)).map(one => wantedAsObserved(one, ids))
    const made = await changeZone(tx, ctx, zone, wanted, { source: 'import', origin: originOfCaller(ctx) })
    const told = { serial: made.zone.serial, ...countsOf(made.changes) }
    return {
      result: { zone_id: zone.id, ...told },
      target: zoneTarget(zone),
      before: { serial: zone.serial },
      after: told,
      events: made.events,
      wakes: made.wakes,
      jobs: made.jobs,
      unchanged: made.unchanged,
    }
  })
}

const takenOver = ['drifted', 'conflict', 'unmanaged'] as const

/** Names at which addresses stand for an ALIAS at a target that has none: there it was never agreed on, nor seen. */
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

async function adoptedRows(tx: Tx, zone: ZoneRow, input: AdoptInput) {
  const targets = (await targetsOf(tx, zone.id)).filter(one => input.target_id === undefined || one.id === input.target_id)
  if (targets.length === 0) throw conflict('The zone is kept at no such provider: there is nothing to take over.')
  if (targets.length > 1)
    throw invalid([
      { pointer: '#/target_id', code: 'required', detail: 'is required for a zone that is kept at several providers.' },
    ])
  const differing = await tx
    .select()
    .from(dnsTargetRrsets)
    .where(and(eq(dnsTargetRrsets.targetId, targets[0]!.id), inArray(dnsTargetRrsets.state, [...takenOver])))
  const expanded = await expandedAt(tx, targets[0]!.id)
  const rows = differing.filter(row => !standsForAlias(row, expanded))
  if (input.rrsets === undefined) {
    if (!input.all) throw invalid([{ pointer: '#/rrsets', code: 'required', detail: 'is required, or `all`.' }])
    return rows
  }
  if (input.all) throw invalid([{ pointer: '#/all', code: 'not_allowed', detail: 'does not go with `rrsets`.' }])
  const found = new Map(rows.map(row => [rrsetKey(row), row]))
  const picked = new Map(
    input.rrsets.map((one, place) => {
      const pointer = `#/rrsets/${place}`
      const name = ruleKept(`${pointer}/name`, () => recordNameOf(one.name, zone.name))
      const key = rrsetKey({ name, type: ruleKept(`${pointer}/type`, () => typeOf(one.type)) })
      const row = found.get(key)
      if (!row)
        throw invalid([{ pointer, code: 'not_found', detail: 'must be changed there by somebody else, or be there alone.' }])
      return [key, row]
    }),
  )
  return [...picked.values()]
}
