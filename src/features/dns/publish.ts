import { and, asc, eq, gt, lte, type Column, type GetColumnData } from 'drizzle-orm'
import { counters } from '../../core/db/tables'
import type { Reader } from '../../core/db/transaction'
import { othersTurn } from '../../core/turns'
import { soaMembers, soaRdataOf } from './soa-members'
import { aliasAddressesOf } from './aliases/expand'
import { dnsRecords, dnsRrsetChanges, dnsRrsets, dnsZoneChanges, dnsZones } from './tables'
import { rrsetKey } from './zone-rows'
import { absoluteOf, originOf } from './zone-names'

/** Woken in this process when a zone changed (core/topics.ts). Other processes look at {@link zoneChangesAfter}. */
export const zonesTopic = 'dns.zones'

/** Name of the counter that numbers changes of zones. */
export const changesCounter = 'dns.zones'

/** A zone as it is served. Names are absolute with the dot, in lower case. */
export interface PublishedZone {
  id: string
  workspaceId: string
  name: string
  serial: number
  /** The SOA record with its serial; negative answers live for `minimum` seconds at most (RFC 2308 section 3). */
  soa: { ttl: number; rdata: Uint8Array; minimum: number }
  /** All but the SOA, in no order. */
  rrsets: PublishedRrset[]
}

export interface PublishedRrset {
  name: string
  type: string
  /** Seconds. */
  ttl: number
  rdata: Uint8Array[]
}

/** The zones that are served, in the order of their ids. */
export async function listPublishedZones(read: Reader): Promise<{ id: string; name: string; serial: number }[]> {
  const rows = await read
    .select({ id: dnsZones.id, name: dnsZones.name, serial: dnsZones.serial })
    .from(dnsZones)
    .where(and(eq(dnsZones.status, 'active'), eq(dnsZones.isServed, true)))
    .orderBy(asc(dnsZones.id))
  return rows.map(row => ({ ...row, name: originOf(row.name) }))
}

/** A zone by its name, with the dot at the end and in any case; null when there is none. */
export async function findZone(read: Reader, name: string): Promise<{ id: string } | null> {
  const [row] = await read
    .select({ id: dnsZones.id })
    .from(dnsZones)
    .where(eq(dnsZones.name, name.toLowerCase().slice(0, -1)))
  return row ?? null
}

/**
 * Changes behind a number, oldest first: what a name server asks for each second, and when {@link zonesTopic} is woken. Numbers
 * grow in the order of commits and a zone has its last one alone. A zone that is gone or paused is among them: reading it gives null.
 * @param after the number of the last change that was read, 0 for all
 */
export async function zoneChangesAfter(
  read: Reader,
  after: number,
  limit = 1000,
): Promise<{ number: number; wholeNumber: number; zoneId: string; name: string }[]> {
  const rows = await read
    .select()
    .from(dnsZoneChanges)
    .where(gt(dnsZoneChanges.number, after))
    .orderBy(asc(dnsZoneChanges.number))
    .limit(limit)
  return rows.map(row => ({ ...row, name: originOf(row.name) }))
}

/** The number of the last change; what is read after this was asked is at least as new. */
export async function lastZoneChange(read: Reader): Promise<number> {
  const [row] = await read.select({ value: counters.value }).from(counters).where(eq(counters.name, changesCounter))
  return row?.value ?? 0
}

/**
 * What has changed in a zone after a number, of one version where {@link readPublishedZone} is: its SOA, and each name and type that changed as it is now,
 * without rdata where it is gone. Null when the zone is gone, or not served.
 */
export async function readPublishedChanges(read: Reader, zoneId: string, after: number): Promise<PublishedZone | null> {
  return await readServed(read, zoneId, async (_, zone) => {
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
  })
}

/** With an ALIAS its addresses come and go. */
const withAddresses = (changed: readonly { name: string; type: string }[]): { name: string; type: string }[] => [
  ...new Map(
    changed
      .flatMap(one => (one.type === 'ALIAS' ? ['ALIAS', 'A', 'AAAA'].map(type => ({ name: one.name, type })) : [one]))
      .map(one => [rrsetKey(one), one]),
  ).values(),
]

/**
 * A zone with all its records, null when it is gone, or not served. Beside an ALIAS are the addresses it stands for, as far as they
 * were looked up. It is of one version unless changes keep coming: then it may have
 * some of the latest, which are told again under a number of their own.
 */
export const readPublishedZone = (read: Reader, zoneId: string): Promise<PublishedZone | null> =>
  readServed(read, zoneId, async (_, zone) => {
    const rrsets = await readRrsets(read, zone)
    if (!rrsets.some(one => one.type === 'ALIAS')) return rrsets
    const aliases = await aliasAddressesOf(read, zone.id)
    return [
      ...rrsets,
      ...[...aliases.values()].flatMap(({ name, ttl, ...found }) =>
        (['A', 'AAAA'] as const).map(type => ({ name: absoluteOf(name, zone.name), type, ttl, rdata: found[type] })),
      ),
    ].filter(one => one.rdata.length > 0)
  })

type Zone = typeof dnsZones.$inferSelect
type RrsetsOf = (read: Reader, zone: { id: string; name: string }) => Promise<PublishedRrset[]>

async function readServed(read: Reader, zoneId: string, rrsetsOf: RrsetsOf): Promise<PublishedZone | null> {
  const [zone] = await read
    .select({ status: dnsZones.status, isServed: dnsZones.isServed })
    .from(dnsZones)
    .where(eq(dnsZones.id, zoneId))
  if (zone?.status !== 'active' || !zone.isServed) return null
  const found = await readUnchanged(read, zoneId, rrsetsOf)
  return found?.zone.status === 'active' && found.zone.isServed ? found.published : null
}

// A zone that changes each second must not keep a name server from all others.
const mostTries = 4

async function readUnchanged(
  read: Reader,
  zoneId: string,
  rrsetsOf: RrsetsOf,
): Promise<{ zone: Zone; published: PublishedZone } | null> {
  for (let tries = 1; ; tries++) {
    const [zone] = await read.select().from(dnsZones).where(eq(dnsZones.id, zoneId))
    if (!zone) return null
    const rrsets = await rrsetsOf(read, zone)
    // Every change moves the version, or with the addresses of an ALIAS the serial: the same before and after mean that none came between.
    const [again] = await read
      .select({ version: dnsZones.version, serial: dnsZones.serial })
      .from(dnsZones)
      .where(eq(dnsZones.id, zoneId))
    const isSame = again?.version === zone.version && again.serial === zone.serial
    if (isSame || tries === mostTries) return { zone, published: published(zone, rrsets) }
  }
}

const published = (zone: Zone, rrsets: PublishedRrset[]): PublishedZone => ({
  id: zone.id,
  workspaceId: zone.workspaceId,
  name: originOf(zone.name),
  serial: zone.serial,
  soa: { ttl: zone.soaTtl, rdata: soaRdata(zone), minimum: zone.soaMinimum },
  rrsets,
})

const soaRdata = (zone: Zone): Uint8Array => soaRdataOf(soaMembers(zone), zone.serial)

async function readRrsets(read: Reader, zone: { id: string; name: string }): Promise<PublishedRrset[]> {
  const found = new Map<string, PublishedRrset>()
  for await (const rows of recordPages(read, zone.id, servedColumns)) {
    for (const { rrsetId, name, type, ttl, rdata } of rows) {
      const rrset = found.get(rrsetId)
      if (rrset) rrset.rdata.push(rdata)
      else found.set(rrsetId, { name: absoluteOf(name, zone.name), type, ttl, rdata: [rdata] })
    }
  }
  return [...found.values()]
}

const servedColumns = {
  id: dnsRecords.id,
  rrsetId: dnsRecords.rrsetId,
  name: dnsRecords.name,
  type: dnsRecords.type,
  ttl: dnsRrsets.ttl,
  rdata: dnsRecords.rdata,
}
/** Columns of a record with those that people keep of its rrset. */
export const wholeColumns = {
  ...servedColumns,
  options: dnsRrsets.options,
  comment: dnsRrsets.comment,
  locked: dnsRrsets.locked,
  tags: dnsRrsets.tags,
  expiresAt: dnsRrsets.expiresAt,
}

// Read in some milliseconds.
const recordsAtOnce = 1000

/**
 * The records of a zone in the order of their ids, page by page: between pages others have their turn, who may change the zone.
 * @param last where to end: whoever changes all of it again and again would have a reader never end
 */
export async function* recordPages<C extends typeof servedColumns>(
  read: Reader,
  zoneId: string,
  columns: C,
  last?: string,
): AsyncGenerator<{ [K in keyof C]: C[K] extends Column ? GetColumnData<C[K]> : never }[]> {
  for (let after = ''; ;) {
    const rows = await read
      .select(columns as typeof servedColumns)
      .from(dnsRecords)
      .innerJoin(dnsRrsets, eq(dnsRrsets.id, dnsRecords.rrsetId))
      .where(
        and(eq(dnsRecords.zoneId, zoneId), gt(dnsRecords.id, after), last === undefined ? undefined : lte(dnsRecords.id, last)),
      )
      .orderBy(asc(dnsRecords.id))
      .limit(recordsAtOnce)
    yield rows as never
    if (rows.length < recordsAtOnce) return
    await othersTurn()
    after = rows.at(-1)!.id
  }
}
