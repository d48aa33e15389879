import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { prepared } from '../../../core/db/prepared'
import type { Reader } from '../../../core/db/transaction'
import { isTurnOver, yieldToEventLoop } from '../../../core/time-slices'
import { aliasAddressesOf } from '../aliases/expand'
import { dnsRecords, dnsRrsets } from '../records/tables'
import { ZonePacker, type PackedZone } from '../server/packed-zone'
import type { ServedSet } from '../server/served-zone'
import { soaFieldsOf, soaRdataOf } from '../zones/soa-fields'
import { dnsZones } from '../zones/tables'
import { originOf } from '../zones/names'
import { lastZoneChange, readPublishedChanges, soaSetOf } from './published-zones'
import { dnsZoneChanges } from './tables'

type Zone = typeof dnsZones.$inferSelect

// A zone that changes all the time must not keep the name server from reading the others.
const maxAttempts = 4

/**
 * Reads a zone with all its records; null if it was deleted or isn’t served. Includes the addresses of ALIAS records that were
 * resolved. The result is one consistent version: what changed while the records were read is read again.
 * @param afterPage called after each page of records
 * @throws DnsFormatError if it has a name that can’t be served
 */
export async function readPackedZone(read: Reader, zoneId: string, afterPage?: () => Promise<void>): Promise<PackedZone | null> {
  for (let attempt = 1; ; attempt++) {
    const number = await lastZoneChange(read)
    const zone = await zoneRow(read, zoneId)
    if (!zone) return null
    const packer = await packRecords(read, zone, afterPage)
    const packed = packer.finish()
    const whole = (changes: ServedSet[]): PackedZone => ({
      name: originOf(zone.name),
      owner: zone.workspaceId,
      hidden: false,
      packed,
      changes,
    })
    const after = await zoneRow(read, zoneId)
    if (!after) return null
    // Every change increases the version, or for ALIAS addresses the serial.
    if (after.version === zone.version && after.serial === zone.serial) return whole([soaSet(zone)])
    const changed = await readPublishedChanges(read, zoneId, number)
    if (!changed) return null
    const [last] = await read
      .select({ wholeNumber: dnsZoneChanges.wholeNumber })
      .from(dnsZoneChanges)
      .where(eq(dnsZoneChanges.zoneId, zoneId))
    if (attempt === maxAttempts || (last?.wholeNumber ?? 0) <= number)
      return whole([soaSetOf(changed.name, changed.soa), ...changed.rrsets])
  }
}

const soaSet = (zone: Zone): ServedSet =>
  soaSetOf(originOf(zone.name), { ttl: zone.soaTtl, rdata: soaRdataOf(soaFieldsOf(zone), zone.serial) })

/** The row of a zone; null if it doesn’t exist or isn’t served. */
async function zoneRow(read: Reader, id: string): Promise<Zone | null> {
  const statement = prepared<Zone[]>(read, 'served zone', handle =>
    handle
      .select()
      .from(dnsZones)
      .where(and(eq(dnsZones.id, sql.placeholder('id')), eq(dnsZones.status, 'active'), eq(dnsZones.isServed, true))),
  )
  const [zone] = await statement.execute({ id })
  return zone ?? null
}

// A page is read and packed in about 10 ms.
export const pageSize = 2000

async function packRecords(read: Reader, zone: Zone, afterPage?: () => Promise<void>): Promise<ZonePacker> {
  const packer = new ZonePacker(originOf(zone.name))
  for (let after = ''; ;) {
    const rows = await recordPage(read, zone.id, after)
    for (const [, name, type, ttl, rdata] of rows) packer.add(name, type, Number(ttl), rdata)
    await afterPage?.()
    if (rows.length < pageSize) break
    after = rows.at(-1)![0]
    if (isTurnOver()) await yieldToEventLoop()
  }
  if (!packer.hasAliases) return packer
  for (const { name, ttl, ...found } of (await aliasAddressesOf(read, zone.id)).values())
    for (const type of ['A', 'AAAA'] as const) for (const rdata of found[type]) packer.add(name, type, ttl, rdata)
  return packer
}

type RecordRow = [id: string, name: string, type: string, ttl: number | string, rdata: Uint8Array]

async function recordPage(read: Reader, zoneId: string, after: string): Promise<RecordRow[]> {
  // Decoding rows takes longer than reading them.
  const cells = await prepared(read, 'served records', handle =>
    handle
      .select({ id: dnsRecords.id, name: dnsRecords.name, type: dnsRecords.type, ttl: dnsRrsets.ttl, rdata: dnsRecords.rdata })
      .from(dnsRecords)
      .innerJoin(dnsRrsets, eq(dnsRrsets.id, dnsRecords.rrsetId))
      .where(and(eq(dnsRecords.zoneId, sql.placeholder('zoneId')), gt(dnsRecords.id, sql.placeholder('after'))))
      .orderBy(asc(dnsRecords.id))
      .limit(pageSize),
  ).cells({ zoneId, after })
  return cells as RecordRow[]
}
