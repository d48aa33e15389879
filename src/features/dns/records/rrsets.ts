import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import { invalid } from '../../../core/problem'
import { callerOrigin } from '../changes/changed-event'
import { optionsOf, wantedMetadata } from './rrset-metadata'
import type { RrsetInput, RrsetsResult, RrsetsInput } from './shapes'
import { readValue } from './records'
import type { WantedRrset } from '../changes/rrset-rules'
import { parseEach, parseRrset } from './parse-field'
import { recordSyncViews } from '../targets/sync-views'
import { recordView } from './views'
import { changeZone, summaryOf } from '../changes/change-zone'
import { rrsetKey } from '../zones/names'
import { rrsetsAt } from './rows'
import { type ZoneRow, zoneRows } from '../zones/rows'
import { sourceOf, zoneTarget } from '../zones/zones'
import { lockRow } from '../../../core/rows'

/**
 * Replaces record sets of a zone, atomically. Records whose value stays the same keep their ids.
 * @throws Problem 404, 412, 422, 403 `plan_limit_reached`
 */
export async function replaceRrsets(ctx: Ctx, zoneId: string, input: RrsetsInput): Promise<RrsetsResult> {
  return await change(ctx, 'dns.rrsets.replace', async tx => {
    const zone = await lockRow(tx, ctx, zoneRows, zoneId)
    const wanted = await wantedRrsets(tx, zone, input.rrsets)
    const result = await changeZone(tx, ctx, zone, wanted, { source: sourceOf(ctx), origin: callerOrigin(ctx) })
    const after = await rrsetsAt(tx, zone.id, wanted)
    const rrsets = wanted.flatMap(one => after.get(rrsetKey(one)) ?? [])
    const syncOf = await recordSyncViews(tx, [zone], wanted)
    const summary = summaryOf(result)
    return {
      result: {
        zone_id: zone.id,
        ...summary,
        records: rrsets.flatMap(({ row, records }) => records.map(record => recordView(record, row, zone, syncOf(record)))),
      },
      target: zoneTarget(zone),
      before: { serial: zone.serial },
      after: summary,
      ...result.effects,
      unchanged: result.unchanged,
    }
  })
}

/** Parses the rrsets of a request, at `#/rrsets`. @throws Problem 422, also for duplicates */
export async function wantedRrsets(tx: Tx, zone: ZoneRow, inputs: readonly RrsetInput[]): Promise<WantedRrset[]> {
  const named = namesIn(inputs, zone)
  const existing = await rrsetsAt(tx, zone.id, named)
  const ttl = (of: { name: string; type: string }) => existing.get(rrsetKey(of))?.row.ttl ?? zone.defaultTtl
  return parseEach(inputs, (one, place) => wantedOf(one, place, named[place]!, zone, ttl(named[place]!)))
}

/** Normalized names and types of rrsets. @throws Problem 422, also for duplicates */
export function namesIn(rrsets: readonly RrsetInput[], zone: { name: string }): { name: string; type: string }[] {
  const seen = new Map<string, number>()
  return parseEach(rrsets, (one, place) => {
    const pointer = `#/rrsets/${place}`
    const { name, type } = parseRrset(one, pointer, zone)
    const before = seen.get(rrsetKey({ name, type }))
    if (before !== undefined) {
      const detail = `duplicates ${type} of ${name}, which is already at #/rrsets/${before}.`
      throw invalid([{ pointer, code: 'not_unique', detail }])
    }
    seen.set(rrsetKey({ name, type }), place)
    return { name, type }
  })
}

/**
 * Parses one rrset of a request.
 * @param ttl default, in seconds
 * @throws Problem 422
 */
export function wantedOf(
  input: RrsetInput,
  place: number,
  { name, type }: { name: string; type: string },
  zone: { name: string },
  ttl: number,
): WantedRrset {
  const pointer = `#/rrsets/${place}`
  return {
    name,
    type,
    ttl: input.ttl ?? ttl,
    ...(input.options !== undefined && { options: optionsOf(input.options) }),
    ...wantedMetadata(input),
    values: parseEach(input.records, (one, at) => ({
      ...readValue(type, one, zone, `${pointer}/records/${at}`),
      pointer: `${pointer}/records/${at}`,
    })),
    pointer,
  }
}
