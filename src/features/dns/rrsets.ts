import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import { requireMatch } from '../../core/if-match'
import { invalid } from '../../core/problem'
import { originOfCaller, type RecordChange } from './changed-event'
import { optionsOf } from './rrset-options'
import type { RrsetGiven, RrsetsChanged, RrsetsInput } from './record-shapes'
import { typeOf } from './record-values'
import { readValue } from './records'
import { wantedMembers } from './rrset-members'
import type { WantedRrset } from './rrset-rules'
import { allKept, ruleKept } from './rule-problems'
import { recordStandings } from './sync/sync-views'
import { recordView } from './views'
import { changeZone } from './zone-changes'
import { rrsetKey, rrsetsAt, zoneHeld, type ZoneRow } from './zone-rows'
import { recordNameOf } from './zone-names'
import { sourceOf, zoneTarget } from './zones'

/**
 * Makes records of a zone by name and type as they are given, all or none; records whose value stays keep their ids.
 * @throws Problem 404, 412, 422, 403 `plan_limit_reached`
 */
export async function replaceRrsets(ctx: Ctx, zoneId: string, input: RrsetsInput): Promise<RrsetsChanged> {
  return await change(ctx, 'dns.rrsets.replace', async tx => {
    const zone = await zoneHeld(tx, ctx, zoneId)
    requireMatch(ctx, zone)
    const wanted = await wantedRrsets(tx, zone, input.rrsets)
    const made = await changeZone(tx, ctx, zone, wanted, { source: sourceOf(ctx), origin: originOfCaller(ctx) })
    const after = await rrsetsAt(
      tx,
      zone.id,
      wanted.map(one => one.name),
    )
    const rrsets = wanted.flatMap(one => after.get(rrsetKey(one)) ?? [])
    const standing = await recordStandings(
      tx,
      [zone],
      wanted.map(one => one.name),
    )
    const counts = countsOf(made.changes)
    return {
      result: {
        zone_id: zone.id,
        serial: made.zone.serial,
        ...counts,
        records: rrsets.flatMap(({ row, records }) => records.map(record => recordView(record, row, zone, standing(record)))),
      },
      target: zoneTarget(zone),
      before: { serial: zone.serial },
      after: { serial: made.zone.serial, ...counts },
      events: made.events,
      wakes: made.wakes,
      jobs: made.jobs,
      unchanged: made.unchanged,
    }
  })
}

/** The rrsets of a request below `#/rrsets`, in their one spelling. @throws Problem 422, also for one that is named twice */
export async function wantedRrsets(tx: Tx, zone: ZoneRow, given: readonly RrsetGiven[]): Promise<WantedRrset[]> {
  const named = namesIn(given, zone)
  const existing = await rrsetsAt(
    tx,
    zone.id,
    named.map(one => one.name),
  )
  const ttl = (of: { name: string; type: string }) => existing.get(rrsetKey(of))?.row.ttl ?? zone.defaultTtl
  return allKept(given, (one, place) => wantedOf(one, place, named[place]!, zone, ttl(named[place]!)))
}

/** How many records of a set of changes were made, edited and removed. */
export const countsOf = (changes: readonly RecordChange[]) => ({
  created: changes.filter(one => one.action === 'created').length,
  updated: changes.filter(one => one.action === 'updated').length,
  deleted: changes.filter(one => one.action === 'deleted').length,
})

/** Names and types of rrsets in their one spelling. @throws Problem 422, also for one that is named twice */
export function namesIn(rrsets: readonly RrsetGiven[], zone: { name: string }): { name: string; type: string }[] {
  const seen = new Map<string, number>()
  return allKept(rrsets, (one, place) => {
    const pointer = `#/rrsets/${place}`
    const type = ruleKept(`${pointer}/type`, () => typeOf(one.type))
    const name = ruleKept(`${pointer}/name`, () => recordNameOf(one.name, zone.name))
    const before = seen.get(rrsetKey({ name, type }))
    if (before !== undefined) {
      const detail = `must not name ${type} of ${name} again: it is #/rrsets/${before}.`
      throw invalid([{ pointer, code: 'not_unique', detail }])
    }
    seen.set(rrsetKey({ name, type }), place)
    return { name, type }
  })
}

/**
 * An rrset of a request as it is to be.
 * @param ttl seconds, where it has none of its own
 * @throws Problem 422
 */
export function wantedOf(
  given: RrsetGiven,
  place: number,
  { name, type }: { name: string; type: string },
  zone: { name: string },
  ttl: number,
): WantedRrset {
  const pointer = `#/rrsets/${place}`
  return {
    name,
    type,
    ttl: given.ttl ?? ttl,
    ...(given.options !== undefined && { options: optionsOf(given.options) }),
    ...wantedMembers(given),
    values: allKept(given.records, (one, at) => ({
      ...readValue(type, one, zone, `${pointer}/records/${at}`),
      pointer: `${pointer}/records/${at}`,
    })),
    pointer,
  }
}
