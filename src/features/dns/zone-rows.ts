import { and, eq, gte, inArray, lt, ne, type SQL } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import { locking } from '../../core/db/dialect'
import type { Reader, Tx } from '../../core/db/transaction'
import { notFound } from '../../core/problem'
import { dnsRecords, dnsRrsets, dnsZones } from './tables'
import { reversedName } from './zone-names'

export type ZoneRow = typeof dnsZones.$inferSelect
export type RrsetRow = typeof dnsRrsets.$inferSelect
export type RecordRow = typeof dnsRecords.$inferSelect

/** An rrset with its records in the order of their ids. */
export interface Rrset {
  row: RrsetRow
  records: RecordRow[]
}

/** The zone of the caller's workspace, held until the transaction ends: changes of a zone take turns. @throws Problem 404 */
export async function zoneHeld(tx: Tx, ctx: Pick<Ctx, 'workspaceId'>, id: string): Promise<ZoneRow> {
  const [row] = await locking(
    tx
      .select()
      .from(dnsZones)
      .where(and(eq(dnsZones.id, id), eq(dnsZones.workspaceId, ctx.workspaceId))),
  )
  if (!row) throw notFound('zone')
  return row
}

/** The rrsets of these names, by {@link rrsetKey}. */
export async function rrsetsAt(tx: Reader, zoneId: string, names: readonly string[]): Promise<Map<string, Rrset>> {
  const found = new Map<string, Rrset>()
  const distinct = [...new Set(names)]
  for (let at = 0; at < distinct.length; at += rowsAtOnce) {
    const some = distinct.slice(at, at + rowsAtOnce)
    const rows = await tx
      .select()
      .from(dnsRrsets)
      .where(and(eq(dnsRrsets.zoneId, zoneId), inArray(dnsRrsets.name, some)))
    const byId = new Map(rows.map(row => [row.id, { row, records: [] } as Rrset]))
    const records = await tx
      .select()
      .from(dnsRecords)
      .where(and(eq(dnsRecords.zoneId, zoneId), inArray(dnsRecords.name, some)))
    // Sorted here: SQLite would walk the whole zone in the order of ids to spare itself the sorting.
    for (const record of records.sort((a, b) => (a.id < b.id ? -1 : 1))) byId.get(record.rrsetId)?.records.push(record)
    for (const one of byId.values()) found.set(rrsetKey(one.row), one)
  }
  return found
}

/** Of the records of a zone those that are below a name. */
export function isBelow(name: string): SQL {
  if (name === '@') return ne(dnsRecords.name, '@')
  const prefix = reversedName(name)
  // The dot is followed by the slash, so this is every text that begins with the name and a dot.
  return and(gte(dnsRecords.nameReversed, `${prefix}.`), lt(dnsRecords.nameReversed, `${prefix}/`))!
}

export const rrsetKey = (of: { name: string; type: string }): string => `${of.name} ${of.type}`

/** Rows that one statement reads or writes: an engine takes so many values at a time. */
export const rowsAtOnce = 500

/** A list in pieces of so many. */
export function* pieces<T>(list: readonly T[]): Generator<T[]> {
  for (let at = 0; at < list.length; at += rowsAtOnce) yield list.slice(at, at + rowsAtOnce)
}
