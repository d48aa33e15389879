import { and, asc, eq, gt, gte, inArray, isNotNull, lte, max, min, or, sql } from 'drizzle-orm'
import { readPages } from '../../../core/db/pages'
import type { Reader } from '../../../core/db/transaction'
import { Problem } from '../../../core/problem'
import { yieldToEventLoop } from '../../../core/time-slices'
import { batches } from '../records/rows'
import { soaFieldsOf, type SoaFields } from '../zones/soa-fields'
import { rrsetKey } from '../zones/names'
import { type ZoneRow } from '../zones/rows'
import { dnsChangesetRrsets, dnsChangesets, type StoredRrset } from './tables'

/** An rrset at two versions of a zone. */
export interface RrsetDiff {
  name: string
  type: string
  before: StoredRrset | null
  after: StoredRrset | null
}

/** A zone at one of its versions, without its records. */
interface ZoneAtVersion {
  version: number
  serial: number
  soa: SoaFields
}

// A page is read in a few milliseconds.
const pageSize = 200

/**
 * Lists the rrsets that were changed between two versions, sorted by name and type, with their state at both. Includes rrsets
 * that are equal at both, because one change reverted another.
 */
export async function* rrsetsChangedBetween(
  read: Reader,
  zoneId: string,
  versions: { from: number; to: number },
): AsyncGenerator<RrsetDiff> {
  for await (const page of readPages<RrsetDiff>(pageSize, last => pageBetween(read, zoneId, versions, last))) {
    yield* page
    // Yield to other work while reading a long history.
    if (page.length === pageSize) await yieldToEventLoop()
  }
}

/** One page, after the given rrset. */
async function pageBetween(
  read: Reader,
  zoneId: string,
  versions: { from: number; to: number },
  last: { name: string; type: string } | undefined,
): Promise<RrsetDiff[]> {
  const { name, type, version } = dnsChangesetRrsets
  const found = read
    .select({ name, type, first: min(version).as('first_version'), last: max(version).as('last_version') })
    .from(dnsChangesetRrsets)
    .where(
      and(
        eq(dnsChangesetRrsets.zoneId, zoneId),
        gt(version, versions.from),
        lte(version, versions.to),
        last ? and(gte(name, last.name), or(gt(name, last.name), gt(type, last.type))) : undefined,
      ),
    )
    .groupBy(name, type)
    .orderBy(asc(name), asc(type))
    .limit(pageSize)
    .as('found')
  const rows = await read
    .select({ name, type, before: dnsChangesetRrsets.before, after: dnsChangesetRrsets.after })
    .from(found)
    // CROSS JOIN fixes the join order: otherwise SQLite scans the whole history of the zone.
    .crossJoin(dnsChangesetRrsets)
    .where(
      and(
        eq(dnsChangesetRrsets.zoneId, zoneId),
        eq(name, found.name),
        eq(type, found.type),
        sql`${version} in (${found.first}, ${found.last})`,
      ),
    )
    .orderBy(asc(name), asc(type), asc(version))
  const touched = new Map<string, RrsetDiff>()
  for (const row of rows) {
    const key = rrsetKey(row)
    touched.set(key, { ...row, before: (touched.get(key) ?? row).before })
  }
  return [...touched.values()]
}

/**
 * Returns a zone at one of its versions.
 * @param zone current row
 * @throws Problem 404 for a version that never existed or whose history was pruned
 */
export async function zoneAtVersion(read: Reader, zone: ZoneRow, version: number): Promise<ZoneAtVersion> {
  if (version === zone.version) return { version, serial: zone.serial, soa: soaFieldsOf(zone) }
  const later = and(eq(dnsChangesets.zoneId, zone.id), gt(dnsChangesets.version, version))
  const [next] = await read
    .select({ version: dnsChangesets.version, serial: dnsChangesets.serialBefore })
    .from(dnsChangesets)
    .where(later)
    .orderBy(asc(dnsChangesets.version))
    .limit(1)
  if (version < 1 || next?.version !== version + 1)
    throw new Problem(
      'not_found',
      `The zone has no version ${version}. Available versions: ${await oldestVersion(read, zone)} to ${zone.version}.`,
    )
  const [changed] = await read
    .select({ soa: dnsChangesets.soaBefore })
    .from(dnsChangesets)
    .where(and(later, isNotNull(dnsChangesets.soaBefore)))
    .orderBy(asc(dnsChangesets.version))
    .limit(1)
  return { version, serial: next.serial, soa: changed?.soa ?? soaFieldsOf(zone) }
}

/** The oldest version in the history of a zone. */
async function oldestVersion(read: Reader, zone: ZoneRow): Promise<number> {
  const [first] = await read
    .select({ version: dnsChangesets.version })
    .from(dnsChangesets)
    .where(eq(dnsChangesets.zoneId, zone.id))
    .orderBy(asc(dnsChangesets.version))
    .limit(1)
  return first ? Math.max(first.version - 1, 1) : zone.version
}

/** Names and types that changed after a version, at the names of the given ones. */
export async function changedSince(
  read: Reader,
  zoneId: string,
  version: number,
  named: readonly { name: string }[],
): Promise<Set<string>> {
  const found = new Set<string>()
  for (const names of batches([...new Set(named.map(one => one.name))])) {
    const rows = await read
      .selectDistinct({ name: dnsChangesetRrsets.name, type: dnsChangesetRrsets.type })
      .from(dnsChangesetRrsets)
      .where(
        and(
          eq(dnsChangesetRrsets.zoneId, zoneId),
          inArray(dnsChangesetRrsets.name, names),
          gt(dnsChangesetRrsets.version, version),
        ),
      )
    for (const row of rows) found.add(rrsetKey(row))
  }
  return found
}
