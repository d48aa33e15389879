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
  const touched = await bindingsAt(tx, zoneId, changed)
  for (const { id, edited } of bindings) {
    if (!touched.has(id)) continue
    const isEdited = (await editsOf(tx, zoneId, await placedOf(tx, id))).some(one => one.essential)
    if (isEdited !== edited)
      await tx.update(dnsTemplateBindings).set({ edited: isEdited, updatedAt: now }).where(eq(dnsTemplateBindings.id, id))
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
