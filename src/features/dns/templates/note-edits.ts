import { and, eq, inArray } from 'drizzle-orm'
import type { Reader, Tx } from '../../../core/db/transaction'
import { rowsAtOnce, rrsetKey, rrsetsAt } from '../zone-rows'
import { editOf, type RrsetEdit } from './edits'
import type { PlacedRrset } from './placed'
import { dnsTemplateBindings, dnsTemplateRrsets } from './tables'

/**
 * Notes for the bindings of a zone whether what they put there was edited, as a step of a change of the zone.
 * @param changed the names and types that the change wrote
 */
export async function noteEdits(
  tx: Tx,
  zoneId: string,
  changed: readonly { name: string; type: string }[],
  now: number,
): Promise<void> {
  const bindings = await tx
    .select({ id: dnsTemplateBindings.id, edited: dnsTemplateBindings.edited })
    .from(dnsTemplateBindings)
    .where(eq(dnsTemplateBindings.zoneId, zoneId))
  if (bindings.length === 0) return
  const concerned = await bindingsAt(tx, zoneId, changed)
  const touched = bindings.filter(one => concerned.has(one.id))
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
    placed.map(one => one.placed.name),
  )
  const edited = new Set(
    placed
      .filter(one => one.placed.essential && editOf(one.placed, existing.get(rrsetKey(one.placed))))
      .map(one => one.bindingId),
  )
  for (const isEdited of [true, false]) {
    const ids = touched.filter(one => one.edited !== isEdited && edited.has(one.id) === isEdited).map(one => one.id)
    if (ids.length > 0)
      await tx.update(dnsTemplateBindings).set({ edited: isEdited, updatedAt: now }).where(inArray(dnsTemplateBindings.id, ids))
  }
}

/** Bindings that put something at these names and types, with what. */
export async function bindingsAt(
  read: Reader,
  zoneId: string,
  rrsets: readonly { name: string; type: string }[],
): Promise<Map<string, PlacedRrset[]>> {
  const keys = new Set(rrsets.map(rrsetKey))
  const names = [...new Set(rrsets.map(one => one.name))]
  const found = new Map<string, PlacedRrset[]>()
  for (let at = 0; at < names.length; at += rowsAtOnce) {
    const rows = await read
      .select()
      .from(dnsTemplateRrsets)
      .where(and(eq(dnsTemplateRrsets.zoneId, zoneId), inArray(dnsTemplateRrsets.name, names.slice(at, at + rowsAtOnce))))
    for (const row of rows)
      if (keys.has(rrsetKey(row))) found.set(row.bindingId, [...(found.get(row.bindingId) ?? []), row.placed])
  }
  return found
}

export async function placedOf(read: Reader, bindingId: string): Promise<PlacedRrset[]> {
  const rows = await read.select().from(dnsTemplateRrsets).where(eq(dnsTemplateRrsets.bindingId, bindingId))
  return rows.map(row => row.placed)
}

/** How a zone differs from what a binding put there. */
export async function editsOf(read: Reader, zoneId: string, placed: readonly PlacedRrset[]): Promise<RrsetEdit[]> {
  const existing = await rrsetsAt(
    read,
    zoneId,
    placed.map(one => one.name),
  )
  return placed.flatMap(one => editOf(one, existing.get(rrsetKey(one))) ?? [])
}
