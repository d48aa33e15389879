import { and, eq, gte, inArray, lt, ne, type SQL } from 'drizzle-orm'
import type { Reader } from '../../../core/db/transaction'
import { reversedName, rrsetKey } from '../zones/names'
import { dnsRecords, dnsRrsets } from './tables'

export type RrsetRow = typeof dnsRrsets.$inferSelect
export type RecordRow = typeof dnsRecords.$inferSelect

/** An rrset with its records, ordered by id. */
export interface Rrset {
  row: RrsetRow
  records: RecordRow[]
}

/** The rrsets at the names of the given ones, by {@link rrsetKey}. */
export async function rrsetsAt(tx: Reader, zoneId: string, named: readonly { name: string }[]): Promise<Map<string, Rrset>> {
  const found = new Map<string, Rrset>()
  for (const some of batches([...new Set(named.map(one => one.name))])) {
    const rows = await tx
      .select()
      .from(dnsRrsets)
      .where(and(eq(dnsRrsets.zoneId, zoneId), inArray(dnsRrsets.name, some)))
    const byId = new Map(rows.map(row => [row.id, { row, records: [] } as Rrset]))
    const records = await tx
      .select()
      .from(dnsRecords)
      .where(and(eq(dnsRecords.zoneId, zoneId), inArray(dnsRecords.name, some)))
    // Sort here: with an ORDER BY, SQLite would scan the whole zone in id order instead.
    for (const record of records.sort((a, b) => (a.id < b.id ? -1 : 1))) byId.get(record.rrsetId)?.records.push(record)
    for (const one of byId.values()) found.set(rrsetKey(one.row), one)
  }
  return found
}

/** SQL condition: the record is below a name. */
export function isBelow(name: string): SQL {
  if (name === '@') return ne(dnsRecords.name, '@')
  const prefix = reversedName(name)
  // `/` follows `.` in ASCII, so this range covers all texts that start with the name and a dot.
  return and(gte(dnsRecords.nameReversed, `${prefix}.`), lt(dnsRecords.nameReversed, `${prefix}/`))!
}

// Databases limit the number of parameters.
const rowsPerStatement = 500

/** Splits a list into batches that fit in one statement. */
export function* batches<T>(list: readonly T[]): Generator<T[]> {
  for (let at = 0; at < list.length; at += rowsPerStatement) yield list.slice(at, at + rowsPerStatement)
}
