import { and, asc, eq, gt, lte, type Column, type GetColumnData } from 'drizzle-orm'
import { lastNumber } from '../../../core/counters'
import { readPages } from '../../../core/db/pages'
import type { Reader } from '../../../core/db/transaction'
import { yieldToEventLoop } from '../../../core/time-slices'
import { soaFieldsOf, soaRdataOf } from '../zones/soa-fields'
import { aliasAddressesOf } from '../aliases/expand'
import { dnsRecords, dnsRrsets } from '../records/tables'
import { dnsRrsetChanges, dnsZoneChanges } from './tables'
import { dnsZones } from '../zones/tables'
import { rrsetKey, absoluteOf, originOf } from '../zones/names'

/** Signaled in this process when a zone changes (core/topics.ts). Other processes poll {@link zoneChangesAfter}. */
export const zonesTopic = 'dns.zones'

/** Name of the counter that numbers zone changes. */
export const changesCounter = 'dns.zones'

/** A zone as served. Names are absolute with a trailing dot, in lower case. */
export interface PublishedZone {
  id: string
  workspaceId: string
  name: string
  serial: number
  /** The SOA record with its serial. Negative answers may be cached for at most `minimum` seconds (RFC 2308 section 3). */
  soa: { ttl: number; rdata: Uint8Array; minimum: number }
  /** Its rrsets except the SOA, unordered. */
  rrsets: PublishedRrset[]
}

export interface PublishedRrset {
  name: string
  type: string
  /** Seconds. */
  ttl: number
  rdata: Uint8Array[]
}

/** Lists the served zones, ordered by id. */
export async function listPublishedZones(read: Reader): Promise<{ id: string; name: string; serial: number }[]> {
  const rows = await read
    .select({ id: dnsZones.id, name: dnsZones.name, serial: dnsZones.serial })
    .from(dnsZones)
    .where(and(eq(dnsZones.status, 'active'), eq(dnsZones.isServed, true)))
    .orderBy(asc(dnsZones.id))
  return rows.map(row => ({ ...row, name: originOf(row.name) }))
}

/** Finds a zone by its name, with a trailing dot and in any case; null if there is none. */
export async function findZone(read: Reader, name: string): Promise<{ id: string } | null> {
  const [row] = await read
    .select({ id: dnsZones.id })
    .from(dnsZones)
    .where(eq(dnsZones.name, name.toLowerCase().slice(0, -1)))
  return row ?? null
}

const maxChangesRead = 1000

/**
 * Lists changes after a number, oldest first. Name servers poll this every second, and whenever {@link zonesTopic} is signaled.
 * Numbers increase in commit order, and each zone is listed only with its last change. Includes deleted and paused zones; reading
 * them returns null.
 * @param after number of the last change that was read, 0 for all
 */
export async function zoneChangesAfter(
  read: Reader,
  after: number,
): Promise<{ number: number; wholeNumber: number; zoneId: string; name: string }[]> {
  const rows = await read
    .select()
    .from(dnsZoneChanges)
    .where(gt(dnsZoneChanges.number, after))
    .orderBy(asc(dnsZoneChanges.number))
    .limit(maxChangesRead)
  return rows.map(row => ({ ...row, name: originOf(row.name) }))
}

/** Number of the last change. Data read after this call is at least as new. */
export const lastZoneChange = (read: Reader): Promise<number> => lastNumber(read, changesCounter)

/**
 * Reads what changed in a zone after a number: its SOA and the current rrset of each changed name and type, with empty rdata if
 * it was deleted; null if the zone was deleted or isn’t served. The result is one consistent version, unless the zone keeps
 * changing: then it may include part of a later change, which is reported again under its own number.
 */
export async function readPublishedChanges(read: Reader, zoneId: string, after: number): Promise<PublishedZone | null> {
  for (let attempt = 1; ; attempt++) {
    const [zone] = await read.select().from(dnsZones).where(eq(dnsZones.id, zoneId))
    if (zone?.status !== 'active' || !zone.isServed) return null
    const rrsets = await changedRrsets(read, zone, after)
    // Every change increases the version, or for ALIAS addresses the serial. If both are the same before and after, nothing
    // changed.
    const [again] = await read
      .select({ version: dnsZones.version, serial: dnsZones.serial })
      .from(dnsZones)
      .where(eq(dnsZones.id, zoneId))
    const isSame = again?.version === zone.version && again.serial === zone.serial
    if (isSame || attempt === maxAttempts) return published(zone, rrsets)
  }
}

// A zone that changes every second must not keep the name server from reading the others.
const maxAttempts = 4

async function changedRrsets(read: Reader, zone: Zone, after: number): Promise<PublishedRrset[]> {
  const changed = await read
    .select({ name: dnsRrsetChanges.name, type: dnsRrsetChanges.type })
    .from(dnsRrsetChanges)
    .where(and(eq(dnsRrsetChanges.zoneId, zone.id), gt(dnsRrsetChanges.number, after)))
  const rrsets: PublishedRrset[] = []
  for (const { name, type } of withAddresses(changed)) {
    const rows = await read
      .select({ ttl: dnsRrsets.ttl, rdata: dnsRecords.rdata })
      .from(dnsRrsets)
      .innerJoin(dnsRecords, eq(dnsRecords.rrsetId, dnsRrsets.id))
      .where(and(eq(dnsRrsets.zoneId, zone.id), eq(dnsRrsets.name, name), eq(dnsRrsets.type, type)))
      .orderBy(asc(dnsRecords.id))
    const own = { name: absoluteOf(name, zone.name), type, ttl: rows[0]?.ttl ?? 0, rdata: rows.map(row => row.rdata) }
    const alias =
      rows.length === 0 && (type === 'A' || type === 'AAAA') && (await aliasAddressesOf(read, zone.id, name)).get(name)
    rrsets.push(alias ? { ...own, ttl: alias.ttl, rdata: alias[type as 'A'] } : own)
  }
  return rrsets
}

/** Adds A and AAAA for each changed ALIAS, since its addresses change with it. */
const withAddresses = (changed: readonly { name: string; type: string }[]): { name: string; type: string }[] => [
  ...new Map(
    changed
      .flatMap(one => (one.type === 'ALIAS' ? ['ALIAS', 'A', 'AAAA'].map(type => ({ name: one.name, type })) : [one]))
      .map(one => [rrsetKey(one), one]),
  ).values(),
]

type Zone = typeof dnsZones.$inferSelect
const published = (zone: Zone, rrsets: PublishedRrset[]): PublishedZone => ({
  id: zone.id,
  workspaceId: zone.workspaceId,
  name: originOf(zone.name),
  serial: zone.serial,
  soa: { ttl: zone.soaTtl, rdata: soaRdata(zone), minimum: zone.soaMinimum },
  rrsets,
})

const soaRdata = (zone: Zone): Uint8Array => soaRdataOf(soaFieldsOf(zone), zone.serial)

/** The SOA record of a zone. */
export const soaSetOf = (name: string, soa: { ttl: number; rdata: Uint8Array }): PublishedRrset => ({
  name,
  type: 'SOA',
  ttl: soa.ttl,
  rdata: [soa.rdata],
})

const servedColumns = {
  id: dnsRecords.id,
  rrsetId: dnsRecords.rrsetId,
  name: dnsRecords.name,
  type: dnsRecords.type,
  ttl: dnsRrsets.ttl,
  rdata: dnsRecords.rdata,
}
/** Columns of a record with the metadata of its rrset. */
export const snapshotColumns = {
  ...servedColumns,
  options: dnsRrsets.options,
  comment: dnsRrsets.comment,
  locked: dnsRrsets.locked,
  tags: dnsRrsets.tags,
  expiresAt: dnsRrsets.expiresAt,
}

// A page is read in a few milliseconds.
const pageSize = 1000

/**
 * Reads the records of a zone page by page, ordered by id. Yields to other work between pages, so the zone may change meanwhile.
 * @param last id to stop at, so that reading ends even if records keep being added
 */
export async function* recordPages<C extends typeof servedColumns>(
  read: Reader,
  zoneId: string,
  columns: C,
  last?: string,
): AsyncGenerator<{ [K in keyof C]: C[K] extends Column ? GetColumnData<C[K]> : never }[]> {
  const until = last === undefined ? undefined : lte(dnsRecords.id, last)
  const pages = readPages<{ id: string }>(pageSize, after =>
    read
      .select(columns as typeof servedColumns)
      .from(dnsRecords)
      .innerJoin(dnsRrsets, eq(dnsRrsets.id, dnsRecords.rrsetId))
      .where(and(eq(dnsRecords.zoneId, zoneId), gt(dnsRecords.id, after?.id ?? ''), until))
      .orderBy(asc(dnsRecords.id))
      .limit(pageSize),
  )
  for await (const rows of pages) {
    yield rows as never
    if (rows.length === pageSize) await yieldToEventLoop()
  }
}
