import { and, eq, gte, isNotNull, lt, ne, sql, type SQL } from 'drizzle-orm'
import { forIds } from '../../../core/db/id-list'
import { prepared } from '../../../core/db/prepared'
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
  const names = [...new Set(named.map(one => one.name))]
  const rows = await forIds(names, (size, list, values) =>
    prepared(tx, `dns-rrsets-at|${size}`, handle => handle.select().from(dnsRrsets).where(isAt(dnsRrsets, list))).execute({
      ...values,
      zoneId,
    }),
  )
  const byId = new Map(rows.map(row => [row.id, { row, records: [] } as Rrset]))
  if (rows.length > 0) {
    const records = await forIds(names, (size, list, values) =>
      prepared(tx, `dns-records-at|${size}`, handle => handle.select().from(dnsRecords).where(isAt(dnsRecords, list))).execute({
        ...values,
        zoneId,
      }),
    )
    // Sort here: with an ORDER BY, SQLite would scan the whole zone in id order instead.
    for (const record of records.sort((a, b) => (a.id < b.id ? -1 : 1))) byId.get(record.rrsetId)?.records.push(record)
  }
  return new Map([...byId.values()].map(one => [rrsetKey(one.row), one]))
}

/** Keys of the rrsets of a zone whose values a dynamic IP source sets, by {@link rrsetKey}. */
export async function drivenKeys(read: Reader, zoneId: string): Promise<Set<string>> {
  const rows = await prepared(read, 'dns-rrsets-driven', handle =>
    handle
      .select({ name: dnsRrsets.name, type: dnsRrsets.type })
      .from(dnsRrsets)
      .where(and(eq(dnsRrsets.zoneId, sql.placeholder('zoneId')), isNotNull(dnsRrsets.drivenBy))),
  ).execute({ zoneId })
  return new Set(rows.map(rrsetKey))
}

const isAt = ({ zoneId, name }: typeof dnsRrsets | typeof dnsRecords, list: SQL): SQL =>
  and(eq(zoneId, sql.placeholder('zoneId')), sql`${name} in ${list}`)!

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
