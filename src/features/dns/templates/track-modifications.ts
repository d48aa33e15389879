import { and, eq, inArray, sql } from 'drizzle-orm'
import { prepared } from '../../../core/db/prepared'
import type { Reader, Tx } from '../../../core/db/transaction'
import { batches, rrsetsAt } from '../records/rows'
import { rrsetKey } from '../zones/names'
import { differenceOf, type RrsetDifference } from './differences'
import type { PlacedRrset } from './placed-rrsets'
import { dnsTemplateBindings, dnsTemplateRrsets } from './tables'

/**
 * Updates `modified` of the bindings of a zone, as part of a change of the zone.
 * @param changed names and types the change wrote
 */
export async function updateModifiedFlags(
  tx: Tx,
  zoneId: string,
  changed: readonly { name: string; type: string }[],
  now: number,
): Promise<void> {
  const bindings = await prepared(tx, 'dns-bindings-of-zone', handle =>
    handle
      .select({ id: dnsTemplateBindings.id, modified: dnsTemplateBindings.modified })
      .from(dnsTemplateBindings)
      .where(eq(dnsTemplateBindings.zoneId, sql.placeholder('zoneId'))),
  ).execute({ zoneId })
  if (bindings.length === 0) return
  const affected = await bindingsAt(tx, zoneId, changed)
  const touched = bindings.filter(one => affected.has(one.id))
  const placed = await tx
    .select({ bindingId: dnsTemplateRrsets.bindingId, placed: dnsTemplateRrsets.placed })
    .from(dnsTemplateRrsets)
    .where(
      inArray(
        dnsTemplateRrsets.bindingId,
        touched.map(one => one.id),
      ),
    )
  const existing = await rrsetsAt(
    tx,
    zoneId,
    placed.map(one => one.placed),
  )
  const modified = new Set(
    placed
      .filter(one => one.placed.essential && differenceOf(one.placed, existing.get(rrsetKey(one.placed))))
      .map(one => one.bindingId),
  )
  for (const isModified of [true, false]) {
    const ids = touched.filter(one => one.modified !== isModified && modified.has(one.id) === isModified).map(one => one.id)
    if (ids.length > 0)
      await tx
        .update(dnsTemplateBindings)
        .set({ modified: isModified, updatedAt: now })
        .where(inArray(dnsTemplateBindings.id, ids))
  }
}

/** The bindings that placed records at these names and types, with those records. */
export async function bindingsAt(
  read: Reader,
  zoneId: string,
  rrsets: readonly { name: string; type: string }[],
): Promise<Map<string, PlacedRrset[]>> {
  const keys = new Set(rrsets.map(rrsetKey))
  const found = new Map<string, PlacedRrset[]>()
  for (const names of batches([...new Set(rrsets.map(one => one.name))])) {
    const rows = await read
      .select()
      .from(dnsTemplateRrsets)
      .where(and(eq(dnsTemplateRrsets.zoneId, zoneId), inArray(dnsTemplateRrsets.name, names)))
    for (const row of rows)
      if (keys.has(rrsetKey(row))) found.set(row.bindingId, [...(found.get(row.bindingId) ?? []), row.placed])
  }
  return found
}

export async function placedOf(read: Reader, bindingId: string): Promise<PlacedRrset[]> {
  const rows = await read.select().from(dnsTemplateRrsets).where(eq(dnsTemplateRrsets.bindingId, bindingId))
  return rows.map(row => row.placed)
}

/** How a zone differs from what a binding placed there. */
export async function differencesOf(read: Reader, zoneId: string, placed: readonly PlacedRrset[]): Promise<RrsetDifference[]> {
  const existing = await rrsetsAt(read, zoneId, placed)
  return placed.flatMap(one => differenceOf(one, existing.get(rrsetKey(one))) ?? [])
}
