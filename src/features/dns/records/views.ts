import { instant } from '../../../core/clock'
import { catchFormatError } from '../../../dns/format-error'
import { hexText } from '../../../dns/octets'
import { rowsById } from '../../../core/db/rows-by-id'
import { fieldsOf, rdataOfText } from '../../../dns/rdata'
import type { Reader } from '../../../core/db/transaction'
import type { DnsRecordView } from './shapes'
import { joinedText } from './values'
import { defaultMetadata, metadataView } from './rrset-metadata'
import { dnsRrsets } from './tables'
import { zoneBriefs } from '../zones/briefs'
import type { RecordRow, RrsetRow } from './rows'
import type { ZoneRow } from '../zones/rows'
import { fqdnOf, unicodeOf } from '../zones/names'
import type { dnsFoundRecords } from '../targets/tables'
import { recordSyncViews } from '../targets/sync-views'
import type { RecordSyncView } from '../targets/shapes'

/** @param sync sync state of the name and type, from `recordSyncViews` */
export function recordView(
  record: RecordRow,
  rrset: RrsetRow,
  zone: { id: string; name: string },
  sync: { synced: boolean; sync: RecordSyncView },
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
    ...sync,
    source: record.source,
    dynamic_ip_id: rrset.drivenBy,
    options: rrset.options,
    managed: true,
    ...metadataView(rrset),
    version: record.version,
    created_at: instant(record.createdAt),
    updated_at: instant(record.updatedAt),
  }
}

/** A record of a zone that is already loaded. */
export async function recordViewOf(read: Reader, record: RecordRow, rrset: RrsetRow, zone: ZoneRow): Promise<DnsRecordView> {
  const syncOf = await recordSyncViews(read, [zone], [record])
  return recordView(record, rrset, zone, syncOf(record))
}

/** Records of any zones as the API returns them. Loads rrsets with one query. */
export async function recordViews(
  read: Reader,
  records: readonly RecordRow[],
  zoneOf: Awaited<ReturnType<typeof zoneBriefs>>,
): Promise<DnsRecordView[]> {
  const rrsetIds = new Set(records.map(record => record.rrsetId))
  const rrsetOf = await rowsById<RrsetRow>(read, 'dns_rrsets', dnsRrsets, dnsRrsets.id, rrsetIds)
  const syncOf = await recordSyncViews(read, [...zoneOf.values()], records)
  return records.flatMap(record => {
    const rrset = rrsetOf.get(record.rrsetId)
    const zone = zoneOf.get(record.zoneId)
    // Skip records deleted since the page was read.
    return rrset && zone ? [recordView(record, rrset, zone, syncOf(record))] : []
  })
}

export type FoundRow = typeof dnsFoundRecords.$inferSelect

/** Unmanaged records, which exist only at providers, as the API returns them. */
export async function unmanagedViews(read: Reader, rows: readonly FoundRow[]): Promise<DnsRecordView[]> {
  if (rows.length === 0) return []
  const zoneOf = await zoneBriefs(read, new Set(rows.map(row => row.zoneId)))
  const syncOf = await recordSyncViews(read, [...zoneOf.values()], rows)
  return rows.flatMap(row => {
    const zone = zoneOf.get(row.zoneId)
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
        ...syncOf(row),
        source: 'external' as const,
        dynamic_ip_id: null,
        options: null,
        managed: false,
        ...metadataView(defaultMetadata),
        version: 1,
        created_at: instant(row.foundAt),
        updated_at: instant(row.foundAt),
      },
    ]
  })
}

const fieldsShown = ({ type, rdata }: Pick<RecordRow, 'type' | 'rdata'>): Record<string, unknown> =>
  catchFormatError(
    () => fieldsOf(type, rdata),
    () => ({ rdata: hexText(rdata) }),
  )
