import { and, eq, inArray } from 'drizzle-orm'
import { instant } from '../../core/clock'
import { DnsFormatError } from '../../core/dns/format-error'
import { hexText } from '../../core/dns/octets'
import { rowsById } from '../../core/db/rows-by-id'
import { fieldsOf, rdataOfText } from '../../core/dns/rdata'
import type { Reader } from '../../core/db/transaction'
import type { DnsRecordView } from './record-shapes'
import { joinedText } from './record-values'
import { noMembers, shownMembers } from './rrset-members'
import { soaMembers } from './soa-members'
import { dnsRecords, dnsRrsets, dnsZones } from './tables'
import type { RecordRow, RrsetRow, ZoneRow } from './zone-rows'
import { fqdnOf, unicodeOf } from './zone-names'
import { usualRules } from './sync/ignoring'
import type { dnsFoundRecords } from './sync/tables'
import { recordStandings, standingsOf, type ZoneStanding } from './sync/sync-views'
import type { RecordSyncView } from './sync/sync-shapes'
import type { ZoneView } from './zone-shapes'

export async function zoneView(read: Reader, zone: ZoneRow): Promise<ZoneView> {
  return (await zoneViews(read, [zone]))[0]!
}

export async function zoneViews(read: Reader, zones: readonly ZoneRow[]): Promise<ZoneView[]> {
  const servers = await nameServersOf(
    read,
    zones.map(zone => zone.id),
  )
  const standing = await standingsOf(read, zones)
  return zones.map(zone => zoneShown(zone, servers.get(zone.id) ?? [], standing(zone)))
}

/** @param nameservers absolute, with the dot */
export const zoneShown = (zone: ZoneRow, nameservers: readonly string[], standing: ZoneStanding): ZoneView => ({
  id: zone.id,
  name: zone.name,
  unicode_name: zone.unicodeName,
  status: zone.status,
  provider_id: zone.providerId,
  served: zone.isServed,
  nameservers: nameservers.map(name => name.replace(/\.$/, '')).sort(),
  serial: zone.serial,
  default_ttl: zone.defaultTtl,
  soa: soaMembers(zone),
  record_count: zone.recordCount,
  update_limit_percent: zone.updateLimit,
  delete_limit_percent: zone.deleteLimit,
  apply: zone.apply,
  drift_policy: zone.driftPolicy,
  unmanaged: zone.unmanaged,
  ignore_rules: [...(zone.ignoreRules ?? usualRules)],
  ...standing,
  version: zone.version,
  created_at: instant(zone.createdAt),
  updated_at: instant(zone.updatedAt),
})

async function nameServersOf(read: Reader, zoneIds: readonly string[]): Promise<Map<string, string[]>> {
  if (zoneIds.length === 0) return new Map()
  const rows = await read
    .select({ zoneId: dnsRecords.zoneId, target: dnsRecords.target })
    .from(dnsRecords)
    .where(and(inArray(dnsRecords.zoneId, [...zoneIds]), eq(dnsRecords.name, '@'), eq(dnsRecords.type, 'NS')))
  const found = new Map<string, string[]>()
  for (const { zoneId, target } of rows) if (target !== null) found.set(zoneId, [...(found.get(zoneId) ?? []), target])
  return found
}

/** @param standing of the record's name and type, as of `recordStandings` */
export function recordView(
  record: RecordRow,
  rrset: RrsetRow,
  zone: { id: string; name: string },
  standing: { synced: boolean; sync: RecordSyncView },
): DnsRecordView {
  const fqdn = fqdnOf(record.name, zone.name)
  return {
    id: record.id,
    zone_id: zone.id,
    zone: zone.name,
    type: record.type,
    name: record.name,
    fqdn,
    unicode_fqdn: unicodeOf(fqdn),
    ttl: rrset.ttl,
    content: record.content,
    fields: fieldsShown(record),
    value: joinedText(record.type, record.rdata),
    ...standing,
    source: record.source,
    options: rrset.options,
    managed: true,
    ...shownMembers(rrset),
    version: record.version,
    created_at: instant(record.createdAt),
    updated_at: instant(record.updatedAt),
  }
}

/** A record of a zone at hand. */
export async function recordViewOf(read: Reader, record: RecordRow, rrset: RrsetRow, zone: ZoneRow): Promise<DnsRecordView> {
  const standing = await recordStandings(read, [zone], [record.name])
  return recordView(record, rrset, zone, standing(record))
}

/** Records of any zones as the API shows them, with two queries for what they have in common. */
export async function recordViews(read: Reader, records: readonly RecordRow[]): Promise<DnsRecordView[]> {
  const ids = (of: (record: RecordRow) => string) => new Set(records.map(of))
  const [rrsetOf, zoneOf] = await Promise.all([
    rowsById<RrsetRow>(
      read,
      'dns_rrsets',
      dnsRrsets,
      dnsRrsets.id,
      ids(record => record.rrsetId),
    ),
    rowsById<ZoneRow>(
      read,
      'dns_zones',
      dnsZones,
      dnsZones.id,
      ids(record => record.zoneId),
    ),
  ])
  const standing = await recordStandings(
    read,
    [...zoneOf.values()],
    records.map(one => one.name),
  )
  return records.flatMap(record => {
    const rrset = rrsetOf.get(record.rrsetId)
    const zone = zoneOf.get(record.zoneId)
    // It was deleted since the page was read.
    return rrset && zone ? [recordView(record, rrset, zone, standing(record))] : []
  })
}

export type FoundRow = typeof dnsFoundRecords.$inferSelect

/** Records that are at providers alone, as the API shows them: they are not managed here. */
export async function foundViews(read: Reader, rows: readonly FoundRow[]): Promise<DnsRecordView[]> {
  if (rows.length === 0) return []
  const zones = await read
    .select({ id: dnsZones.id, name: dnsZones.name, targetCount: dnsZones.targetCount })
    .from(dnsZones)
    .where(inArray(dnsZones.id, [...new Set(rows.map(row => row.zoneId))]))
  const standing = await recordStandings(
    read,
    zones,
    rows.map(one => one.name),
  )
  return rows.flatMap(row => {
    const zone = zones.find(one => one.id === row.zoneId)
    if (!zone) return []
    const fqdn = fqdnOf(row.name, zone.name)
    const rdata = rdataOfText(row.type, row.content, null)
    return [
      {
        id: row.id,
        zone_id: zone.id,
        zone: zone.name,
        type: row.type,
        name: row.name,
        fqdn,
        unicode_fqdn: unicodeOf(fqdn),
        ttl: row.ttl,
        content: row.content,
        fields: fieldsShown({ type: row.type, rdata }),
        value: joinedText(row.type, rdata),
        ...standing(row),
        source: 'external' as const,
        options: null,
        managed: false,
        ...shownMembers(noMembers),
        version: 1,
        created_at: instant(row.foundAt),
        updated_at: instant(row.foundAt),
      },
    ]
  })
}

function fieldsShown({ type, rdata }: Pick<RecordRow, 'type' | 'rdata'>): Record<string, unknown> {
  try {
    return fieldsOf(type, rdata)
  } catch (error) {
    if (error instanceof DnsFormatError) return { rdata: hexText(rdata) }
    throw error
  }
}
