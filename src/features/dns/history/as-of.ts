import { and, asc, eq, gt, gte, inArray, isNotNull, lte, max, min, or, sql } from 'drizzle-orm'
import type { Reader } from '../../../core/db/transaction'
import { Problem } from '../../../core/problem'
import { othersTurn } from '../../../core/turns'
import { soaMembers, type SoaMembers } from '../soa-members'
import { rrsetKey, type ZoneRow } from '../zone-rows'
import { dnsChangesetRrsets, dnsChangesets, type KeptRrset } from './tables'

/** What became of a name and type between two versions. */
export interface Between {
  name: string
  type: string
  before: KeptRrset | null
  after: KeptRrset | null
}

/** A zone at one of its versions, but for its records. */
export interface ZoneThen {
  version: number
  serial: number
  soa: SoaMembers
}

// Read in some milliseconds.
const rrsetsAtOnce = 200

/**
 * The names and types that changes touched after one version and up to another, by name and type, as they were at both: also where
 * that is the same, since one change undid the other.
 */
export async function* touchedBetween(
  read: Reader,
  zoneId: string,
  versions: { from: number; to: number },
): AsyncGenerator<Between> {
  for (let last: { name: string; type: string } | null = null; ;) {
    const some = await someBetween(read, zoneId, versions, last)
    yield* some
    if (some.length < rrsetsAtOnce) return
    last = some.at(-1)!
    // Others have their turn while a long history is read.
    await othersTurn()
  }
}

/** As many as are read at once, behind one of them. */
async function someBetween(
  read: Reader,
  zoneId: string,
  versions: { from: number; to: number },
  last: { name: string; type: string } | null,
): Promise<Between[]> {
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
    .limit(rrsetsAtOnce)
    .as('found')
  const rows = await read
    .select({ name, type, before: dnsChangesetRrsets.before, after: dnsChangesetRrsets.after })
    .from(found)
    // In this order: of a plain join SQLite walks the whole history of the zone each time.
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
  const touched = new Map<string, Between>()
  for (const row of rows) {
    const key = rrsetKey(row)
    touched.set(key, { ...row, before: (touched.get(key) ?? row).before })
  }
  return [...touched.values()]
}

/**
 * A zone as it was at a version.
 * @param zone as it is
 * @throws Problem 404 for a version that it has not had, or of which nothing is kept any more
 */
export async function zoneThen(read: Reader, zone: ZoneRow, version: number): Promise<ZoneThen> {
  if (version === zone.version) return { version, serial: zone.serial, soa: soaMembers(zone) }
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
      `There is no such version of the zone. It is at ${zone.version}, and can be told back to ${await oldest(read, zone)}.`,
    )
  const [other] = await read
    .select({ soa: dnsChangesets.soaBefore })
    .from(dnsChangesets)
    .where(and(later, isNotNull(dnsChangesets.soaBefore)))
    .orderBy(asc(dnsChangesets.version))
    .limit(1)
  return { version, serial: next.serial, soa: other?.soa ?? soaMembers(zone) }
}

/** The first version that the history of a zone leads back to. */
async function oldest(read: Reader, zone: ZoneRow): Promise<number> {
  const [first] = await read
    .select({ version: dnsChangesets.version })
    .from(dnsChangesets)
    .where(eq(dnsChangesets.zoneId, zone.id))
    .orderBy(asc(dnsChangesets.version))
    .limit(1)
  return first ? Math.max(first.version - 1, 1) : zone.version
}

/** The names and types that were changed after a version. */
export async function changedSince(
  read: Reader,
  zoneId: string,
  version: number,
  names: readonly string[],
): Promise<Set<string>> {
  const found = new Set<string>()
  const distinct = [...new Set(names)]
  for (let at = 0; at < distinct.length; at += rrsetsAtOnce) {
    const rows = await read
      .selectDistinct({ name: dnsChangesetRrsets.name, type: dnsChangesetRrsets.type })
      .from(dnsChangesetRrsets)
      .where(
        and(
          eq(dnsChangesetRrsets.zoneId, zoneId),
          inArray(dnsChangesetRrsets.name, distinct.slice(at, at + rrsetsAtOnce)),
          gt(dnsChangesetRrsets.version, version),
        ),
      )
    for (const row of rows) found.add(rrsetKey(row))
  }
  return found
}
