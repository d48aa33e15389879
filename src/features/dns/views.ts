import { and, eq, inArray } from 'drizzle-orm'
import { instant } from '../../core/clock'
import { DnsFormatError } from '../../core/dns/format-error'
import { hexText } from '../../core/dns/octets'
import { fieldsOf } from '../../core/dns/rdata'
import { rowsById } from '../../core/db/rows-by-id'
import type { Reader } from '../../core/db/transaction'
import type { DnsRecordView } from './record-shapes'
import { joinedText } from './record-values'
import { shownMembers } from './rrset-members'
import { soaMembers } from './soa-members'
import { dnsRecords, dnsRrsets, dnsZones } from './tables'
import type { RecordRow, RrsetRow, ZoneRow } from './zone-rows'
import { fqdnOf, unicodeOf } from './zone-names'
import { builtin, type ZoneView } from './zone-shapes'

export async function zoneView(read: Reader, zone: ZoneRow): Promise<ZoneView> {
  return (await zoneViews(read, [zone]))[0]!
}

export async function zoneViews(read: Reader, zones: readonly ZoneRow[]): Promise<ZoneView[]> {
  const servers = await nameServersOf(
    read,
    zones.map(zone => zone.id),
  )
  return zones.map(zone => zoneShown(zone, servers.get(zone.id) ?? []))
}

/** @param nameservers absolute, with the dot */
export const zoneShown = (zone: ZoneRow, nameservers: readonly string[]): ZoneView => ({
  id: zone.id,
  name: zone.name,
  unicode_name: zone.unicodeName,
  status: zone.status,
  provider_id: builtin,
  nameservers: nameservers.map(name => name.replace(/\.$/, '')).sort(),
  serial: zone.serial,
  default_ttl: zone.defaultTtl,
  soa: soaMembers(zone),
  record_count: zone.recordCount,
  update_limit_percent: zone.updateLimit,
  delete_limit_percent: zone.deleteLimit,
  // What is kept is what the built-in server serves: there is nothing between.
  synced: true,
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

export function recordView(record: RecordRow, rrset: RrsetRow, zone: { id: string; name: string }): DnsRecordView {
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
    synced: true,
    source: record.source,
    options: rrset.options,
    managed: true,
    ...shownMembers(rrset),
    version: record.version,
    created_at: instant(record.createdAt),
    updated_at: instant(record.updatedAt),
  }
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
  return records.flatMap(record => {
    const rrset = rrsetOf.get(record.rrsetId)
    const zone = zoneOf.get(record.zoneId)
    // It was deleted since the page was read.
    return rrset && zone ? [recordView(record, rrset, zone)] : []
  })
}

function fieldsShown({ type, rdata }: RecordRow): Record<string, unknown> {
  try {
    return fieldsOf(type, rdata)
  } catch (error) {
    if (error instanceof DnsFormatError) return { rdata: hexText(rdata) }
    throw error
  }
}
