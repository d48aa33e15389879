import { desc, eq } from 'drizzle-orm'
import type { Reader } from '../../../core/db/transaction'
import { rrsetsChangedBetween, zoneAtVersion, type RrsetDiff } from '../history/zone-versions'
import type { StoredRrset } from '../history/tables'
import { recordPages, snapshotColumns, type PublishedRrset, type PublishedZone } from './published-zones'
import type { RrsetMetadata } from '../records/rrset-metadata'
import { soaRdataOf, type SoaFields } from '../zones/soa-fields'
import { dnsRecords } from '../records/tables'
import { dnsZones } from '../zones/tables'
import { rrsetKey, absoluteOf, originOf } from '../zones/names'
import { type RrsetRow } from '../records/rows'
import { type ZoneRow } from '../zones/rows'

/** An rrset with its metadata. */
export interface SnapshotRrset extends PublishedRrset, RrsetMetadata, Pick<RrsetRow, 'options'> {
  /** Relative to the zone, `@` for the apex. */
  relativeName: string
}

/** A whole zone at one of its versions, whether it is served or not. */
export interface ZoneSnapshot {
  /** Fields that have no history are current. */
  zone: ZoneRow
  soa: SoaFields
  published: PublishedZone & { rrsets: SnapshotRrset[] }
}

/**
 * Reads a zone at one version, even if it changes meanwhile; null if it was deleted, or if the caller has left.
 * @param signal aborted when the caller has left
 * @param version within the history of the zone; the current one by default
 * @throws Problem 404 for a version that never existed or whose history was pruned
 */
export async function readZoneSnapshot(
  read: Reader,
  zoneId: string,
  version?: number,
  signal?: AbortSignal,
): Promise<ZoneSnapshot | null> {
  const [zone] = await read.select().from(dnsZones).where(eq(dnsZones.id, zoneId))
  if (!zone) return null
  const then = await zoneAtVersion(read, zone, version ?? zone.version)
  const found = await readRrsets(read, zone, signal)
  if (signal?.aborted) return null
  const [after] = await read.select().from(dnsZones).where(eq(dnsZones.id, zoneId))
  if (!after) return null
  if (after.version > then.version) {
    // The rrsets may have been read at different versions. Undo every change made after the requested one.
    for await (const one of rrsetsChangedBetween(read, zoneId, { from: then.version, to: after.version }))
      if (one.before) found.set(rrsetKey(one), snapshotRrset(zone, one, one.before))
      else found.delete(rrsetKey(one))
    // Fail if history was pruned meanwhile: changes would be missing.
    await zoneAtVersion(read, after, then.version)
  }
  const soa = { ttl: then.soa.ttl, rdata: soaRdataOf(then.soa, then.serial), minimum: then.soa.minimum }
  const { id, workspaceId } = zone
  const published = { id, workspaceId, name: originOf(zone.name), serial: then.serial, soa, rrsets: [...found.values()] }
  return { zone, soa: then.soa, published }
}

async function readRrsets(read: Reader, zone: ZoneRow, signal?: AbortSignal): Promise<Map<string, SnapshotRrset>> {
  const found = new Map<string, SnapshotRrset>()
  const [last] = await read
    .select({ id: dnsRecords.id })
    .from(dnsRecords)
    .where(eq(dnsRecords.zoneId, zone.id))
    .orderBy(desc(dnsRecords.id))
    .limit(1)
  if (!last) return found
  for await (const rows of recordPages(read, zone.id, snapshotColumns, last.id)) {
    if (signal?.aborted) break
    for (const { id: _, rrsetId: _rrset, name: relativeName, rdata, ...terms } of rows) {
      const key = rrsetKey({ name: relativeName, type: terms.type })
      const rrset = found.get(key)
      if (rrset) rrset.rdata.push(rdata)
      else found.set(key, { ...terms, relativeName, name: absoluteOf(relativeName, zone.name), rdata: [rdata] })
    }
  }
  return found
}

function snapshotRrset(zone: ZoneRow, { name: relativeName, type }: RrsetDiff, form: StoredRrset): SnapshotRrset {
  const { ttl, options, comment, locked, tags, expiresAt, records } = form
  const rdata = records.map(([, octets]) => Buffer.from(octets, 'base64'))
  return { relativeName, name: absoluteOf(relativeName, zone.name), type, ttl, options, comment, locked, tags, expiresAt, rdata }
}
