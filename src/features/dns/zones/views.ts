import { and, eq, inArray } from 'drizzle-orm'
import type { Reader } from '../../../core/db/transaction'
import { editableView, memberView } from '../../../core/members'
import { soaFieldsOf } from './soa-fields'
import { dnsRecords } from '../records/tables'
import type { ZoneRow } from './rows'
import { defaultIgnoreRules } from '../drift/ignore-rules'
import { zoneSyncViews, type ZoneStanding } from '../targets/sync-views'
import { policyMembers, type ZoneView } from './shapes'

export async function zoneView(read: Reader, zone: ZoneRow): Promise<ZoneView> {
  return (await zoneViews(read, [zone]))[0]!
}

export async function zoneViews(read: Reader, zones: readonly ZoneRow[]): Promise<ZoneView[]> {
  const servers = await nameServersOf(read, zones)
  const syncOf = await zoneSyncViews(read, zones)
  return zones.map(zone => zoneViewOf(zone, servers.get(zone.id) ?? [], syncOf(zone)))
}

/** @param nameservers absolute, with a trailing dot */
const zoneViewOf = (zone: ZoneRow, nameservers: readonly string[], sync: ZoneStanding): ZoneView => ({
  id: zone.id,
  name: zone.name,
  unicode_name: zone.unicodeName,
  status: zone.status,
  provider_id: zone.providerId,
  served: zone.isServed,
  nameservers: nameservers.map(name => name.replace(/\.$/, '')).sort(),
  serial: zone.serial,
  default_ttl: zone.defaultTtl,
  soa: soaFieldsOf(zone),
  record_count: zone.recordCount,
  update_limit_percent: zone.updateLimit,
  delete_limit_percent: zone.deleteLimit,
  ...memberView(policyMembers, zone),
  ignore_rules: [...(zone.ignoreRules ?? defaultIgnoreRules)],
  ...sync,
  ...editableView(zone),
})

/** The name servers in the NS records of zones, absolute and with a trailing dot, by the ID of the zone. */
export async function nameServersOf(read: Reader, zones: readonly Pick<ZoneRow, 'id'>[]): Promise<Map<string, string[]>> {
  if (zones.length === 0) return new Map()
  const zoneIds = zones.map(zone => zone.id)
  const rows = await read
    .select({ zoneId: dnsRecords.zoneId, target: dnsRecords.target })
    .from(dnsRecords)
    .where(and(inArray(dnsRecords.zoneId, zoneIds), eq(dnsRecords.name, '@'), eq(dnsRecords.type, 'NS')))
  const found = new Map<string, string[]>()
  for (const { zoneId, target } of rows) if (target !== null) found.set(zoneId, [...(found.get(zoneId) ?? []), target])
  return found
}
