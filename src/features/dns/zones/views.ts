import { and, eq, inArray } from 'drizzle-orm'
import { instant } from '../../../core/clock'
import type { Reader } from '../../../core/db/transaction'
import { soaFieldsOf } from './soa-fields'
import { dnsRecords } from '../records/tables'
import type { ZoneRow } from './rows'
import { defaultIgnoreRules } from '../drift/ignore-rules'
import { zoneSyncViews, type ZoneStanding } from '../targets/sync-views'
import type { ZoneView } from './shapes'

export async function zoneView(read: Reader, zone: ZoneRow): Promise<ZoneView> {
  return (await zoneViews(read, [zone]))[0]!
}

export async function zoneViews(read: Reader, zones: readonly ZoneRow[]): Promise<ZoneView[]> {
  const servers = await nameServersOf(
    read,
    zones.map(zone => zone.id),
  )
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
  apply: zone.apply,
  drift_policy: zone.driftPolicy,
  unmanaged: zone.unmanaged,
  ignore_rules: [...(zone.ignoreRules ?? defaultIgnoreRules)],
  ...sync,
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
