import { desc, eq } from 'drizzle-orm'
import type { Reader } from '../../core/db/transaction'
import { touchedBetween, zoneThen, type Between } from './history/as-of'
import type { KeptRrset } from './history/tables'
import { recordPages, wholeColumns, type PublishedRrset, type PublishedZone } from './publish'
import type { RrsetMembers } from './rrset-members'
import { soaRdataOf, type SoaMembers } from './soa-members'
import { dnsRecords, dnsZones } from './tables'
import { rrsetKey, type RrsetRow, type ZoneRow } from './zone-rows'
import { absoluteOf, originOf } from './zone-names'

/** An rrset with what people keep of it. */
export interface WholeRrset extends PublishedRrset, RrsetMembers, Pick<RrsetRow, 'options'> {
  /** Below the zone, `@` for the apex. */
  own: string
}

/** All of a zone as it was at one of its versions, whether it is served or not. */
export interface WholeZone {
  /** With members that have no history as they are now. */
  zone: ZoneRow
  soa: SoaMembers
  published: PublishedZone & { rrsets: WholeRrset[] }
}

/**
 * Reads a zone as of one version, however often it changes meanwhile; null when it is gone.
 * @param version one that the history of the zone leads back to; the latest when absent
 * @throws Problem 404 for a version that the zone has not had, or of which nothing is kept any more
 */
export async function readWholeZone(read: Reader, zoneId: string, version?: number): Promise<WholeZone | null> {
  const [zone] = await read.select().from(dnsZones).where(eq(dnsZones.id, zoneId))
  if (!zone) return null
  const then = await zoneThen(read, zone, version ?? zone.version)
  const found = await readRrsets(read, zone)
  const [after] = await read.select().from(dnsZones).where(eq(dnsZones.id, zoneId))
  if (!after) return null
  if (after.version > then.version) {
    // What was read is of several versions, but for what no change touched since that one.
    for await (const one of touchedBetween(read, zoneId, { from: then.version, to: after.version }))
      if (one.before) found.set(rrsetKey(one), wholeRrset(zone, one, one.before))
      else found.delete(rrsetKey(one))
    // What was pruned meanwhile would be missing.
    await zoneThen(read, after, then.version)
  }
  const soa = { ttl: then.soa.ttl, rdata: soaRdataOf(then.soa, then.serial), minimum: then.soa.minimum }
  const { id, workspaceId } = zone
  const published = { id, workspaceId, name: originOf(zone.name), serial: then.serial, soa, rrsets: [...found.values()] }
  return { zone, soa: then.soa, published }
}

async function readRrsets(read: Reader, zone: ZoneRow): Promise<Map<string, WholeRrset>> {
  const found = new Map<string, WholeRrset>()
  const [last] = await read
    .select({ id: dnsRecords.id })
    .from(dnsRecords)
    .where(eq(dnsRecords.zoneId, zone.id))
    .orderBy(desc(dnsRecords.id))
    .limit(1)
  if (!last) return found
  for await (const rows of recordPages(read, zone.id, wholeColumns, last.id)) {
    for (const { id: _, rrsetId: _rrset, name: own, rdata, ...terms } of rows) {
      const key = rrsetKey({ name: own, type: terms.type })
      const rrset = found.get(key)
      if (rrset) rrset.rdata.push(rdata)
      else found.set(key, { ...terms, own, name: absoluteOf(own, zone.name), rdata: [rdata] })
    }
  }
  return found
}

function wholeRrset(zone: ZoneRow, { name: own, type }: Between, form: KeptRrset): WholeRrset {
  const { ttl, options, comment, locked, tags, expiresAt, records } = form
  const rdata = records.map(([, octets]) => Buffer.from(octets, 'base64'))
  return { own, name: absoluteOf(own, zone.name), type, ttl, options, comment, locked, tags, expiresAt, rdata }
}
