import { and, asc, desc, eq, gte, lte, or, gt } from 'drizzle-orm'
import { readPages } from '../../../core/db/pages'
import type { Reader } from '../../../core/db/transaction'
import type { Delta, DeltaRecord } from '../server/messages'
import { soaFieldsOf, soaRdataOf, type SoaFields } from '../zones/soa-fields'
import { dnsZones } from '../zones/tables'
import { absoluteOf } from '../zones/names'
import { dnsChangesetRrsets, dnsChangesets, type StoredRrset } from './tables'

const changesetPageSize = 500
const rrsetPageSize = 1000

/**
 * Returns the changes of a zone since a serial, oldest first, with the SOA listed separately; empty if the zone is at that
 * serial. Records that were added and removed again are in both lists. Returns null if the history doesn’t reach back to the
 * serial or has more than `maxRecords` records, including SOA records. Then the whole zone must be sent.
 */
export async function readDeltas(read: Reader, zoneId: string, fromSerial: number, maxRecords: number): Promise<Delta[] | null> {
  const [zone] = await read.select().from(dnsZones).where(eq(dnsZones.id, zoneId))
  if (!zone) return null
  if (zone.serial === fromSerial) return []
  const deltas = new Map<number, Delta>()
  const rrsets = new Map<number, number>()
  let at: { version: number; serial: number; soa: SoaFields } = { ...zone, soa: soaFieldsOf(zone) }
  let count = 0
  while (at.serial !== fromSerial) {
    const rows = await read
      .select()
      .from(dnsChangesets)
      .where(and(eq(dnsChangesets.zoneId, zoneId), lte(dnsChangesets.version, at.version)))
      .orderBy(desc(dnsChangesets.version))
      .limit(changesetPageSize)
    if (rows.length === 0) return null
    for (const row of rows) {
      // The first changeset created the zone. There is nothing before it.
      if (row.version !== at.version || row.serialAfter !== at.serial || row.version === 1) return null
      const before = { version: row.version - 1, serial: row.serialBefore, soa: row.soaBefore ?? at.soa }
      if (before.serial !== at.serial) {
        count += row.created + 2 * row.updated + row.deleted + 2
        if (count > maxRecords) return null
        rrsets.set(row.version, row.rrsetCount)
        deltas.set(row.version, {
          fromSerial: before.serial,
          toSerial: at.serial,
          soaBefore: soaRecord(before),
          soaAfter: soaRecord(at),
          removed: [],
          added: [],
        })
      }
      at = before
      if (at.serial === fromSerial) break
    }
  }
  await readRrsets(read, zone, deltas, rrsets, { from: at.version + 1, to: zone.version })
  // Old changesets may have been pruned while reading.
  return [...rrsets.values()].every(remaining => remaining === 0) ? [...deltas.values()].reverse() : null
}

const soaRecord = ({ soa, serial }: { soa: SoaFields; serial: number }): Delta['soaAfter'] => ({
  ttl: soa.ttl,
  rdata: soaRdataOf(soa, serial),
})

/** @param remaining rrsets of each version, decreased by those that are read */
async function readRrsets(
  read: Reader,
  zone: { id: string; name: string },
  deltas: ReadonlyMap<number, Delta>,
  remaining: Map<number, number>,
  versions: { from: number; to: number },
): Promise<void> {
  const { version, place } = dnsChangesetRrsets
  const first = { version: versions.from, place: -1 }
  const pages = readPages<typeof dnsChangesetRrsets.$inferSelect>(rrsetPageSize, (after: typeof first = first) =>
    read
      .select()
      .from(dnsChangesetRrsets)
      .where(
        and(
          eq(dnsChangesetRrsets.zoneId, zone.id),
          gte(version, after.version),
          lte(version, versions.to),
          or(gt(version, after.version), gt(place, after.place)),
        ),
      )
      .orderBy(asc(version), asc(place))
      .limit(rrsetPageSize),
  )
  for await (const rows of pages)
    for (const row of rows) {
      const delta = deltas.get(row.version)
      if (!delta) continue
      remaining.set(row.version, remaining.get(row.version)! - 1)
      const name = absoluteOf(row.name, zone.name)
      delta.removed.push(...recordsOnlyIn(row.before, row.after, { name, type: row.type }))
      delta.added.push(...recordsOnlyIn(row.after, row.before, { name, type: row.type }))
    }
}

/** Records of an rrset that its other state doesn’t have with the same TTL and rdata. */
function recordsOnlyIn(state: StoredRrset | null, other: StoredRrset | null, of: { name: string; type: string }): DeltaRecord[] {
  if (!state) return []
  const unchanged = new Set(other?.ttl === state.ttl ? other.records.map(([, rdata]) => rdata) : [])
  return state.records
    .filter(([, rdata]) => !unchanged.has(rdata))
    .map(([, rdata]) => ({ ...of, ttl: state.ttl, rdata: Buffer.from(rdata, 'base64') }))
}
