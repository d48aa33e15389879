import { and, asc, count, eq, inArray, isNull, lte, sql } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { RecordResult } from '../../../core/change-result'
import { forUpdate } from '../../../core/db/dialect'
import { prepared } from '../../../core/db/prepared'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { dnsRecords, dnsRrsets } from './tables'
import { dnsZones } from '../zones/tables'
import { systemChanger, changeZone, maxRecordsPerChange } from '../changes/change-zone'
import type { RrsetRow } from './rows'
import { zoneTarget } from '../zones/zones'

const maxRrsetsPerRun = 500
const actor = 'dns.expire'

/**
 * Deletes expired records, including locked ones, since their expiry was set explicitly, but not those of dynamic IP sources. The
 * event has the origin `api` and the system as its actor. Safe to run on several hubs at the same time.
 * @param maxZones zones to process per run; the others are processed in the next run
 */
export async function expireRecords(hub: Hub, maxZones = 100): Promise<void> {
  const find = prepared(hub.read, 'zones-with-expired-records', read =>
    read
      // An expression, because SQLite would read all rrsets by the index on the zone to find distinct ones.
      .selectDistinct({ zoneId: sql<string>`${dnsRrsets.zoneId} || ''` })
      .from(dnsRrsets)
      // Skip records of deleted zones that are still being cleaned up. CROSS JOIN fixes the join order.
      .crossJoin(dnsZones)
      .where(and(lte(dnsRrsets.expiresAt, sql.placeholder('now')), eq(dnsZones.id, dnsRrsets.zoneId), isNull(dnsRrsets.drivenBy)))
      .limit(sql.placeholder('maxZones')),
  )
  const due = await find.execute({ now: hub.clock.now(), maxZones })
  for (const { zoneId } of due) {
    try {
      await record(hub, tx => expire(tx, hub, zoneId))
    } catch (error) {
      // One failing zone must not delay the others.
      hub.log.error({ err: error, zone: zoneId }, 'could not delete expired records')
    }
  }
}

async function expire(tx: Tx, hub: Hub, zoneId: string): Promise<RecordResult<undefined>> {
  const [zone] = await forUpdate(tx.select().from(dnsZones).where(eq(dnsZones.id, zoneId)))
  if (!zone) return { result: undefined }
  const now = hub.clock.now()
  const rows = await overdue(tx, zoneId, now)
  if (rows.length === 0) return { result: undefined }
  const by = systemChanger(hub, zone, actor)
  const removals = rows.map(({ name, type, ttl }) => ({
    name,
    type,
    ttl,
    comment: null,
    values: [],
    pointer: '#',
    unlocks: true,
  }))
  const result = await changeZone(tx, by, zone, removals, { source: 'api', origin: 'api' })
  const audit = {
    workspaceId: zone.workspaceId,
    action: 'dns.records.expire' as const,
    actor: by.actor,
    context: by.context,
    targets: [zoneTarget(zone)],
    before: { serial: zone.serial },
    after: { serial: result.zone.serial, deleted: result.changes.length },
    reason: `Expired: ${rows
      .map(row => `${row.name} ${row.type}`)
      .slice(0, maxNamed)
      .join(', ')}.`,
  }
  return { result: undefined, audits: [audit], ...result.effects }
}

const maxNamed = 10

/** Expired rrsets, oldest first, up to the number of records allowed in one change. */
async function overdue(tx: Tx, zoneId: string, now: number): Promise<Pick<RrsetRow, 'id' | 'name' | 'type' | 'ttl'>[]> {
  const rows = await tx
    .select({ id: dnsRrsets.id, name: dnsRrsets.name, type: dnsRrsets.type, ttl: dnsRrsets.ttl })
    .from(dnsRrsets)
    .where(and(eq(dnsRrsets.zoneId, zoneId), lte(dnsRrsets.expiresAt, now), isNull(dnsRrsets.drivenBy)))
    .orderBy(asc(dnsRrsets.expiresAt))
    .limit(maxRrsetsPerRun)
  const ids = rows.map(row => row.id)
  const sizes = await tx
    .select({ id: dnsRecords.rrsetId, n: count() })
    .from(dnsRecords)
    .where(inArray(dnsRecords.rrsetId, ids))
    .groupBy(dnsRecords.rrsetId)
  const size = new Map(sizes.map(one => [one.id, one.n]))
  let records = 0
  const end = rows.findIndex(({ id }) => (records += size.get(id) ?? 0) > maxRecordsPerChange)
  return end < 0 ? rows : rows.slice(0, end)
}
