import { and, asc, count, eq, inArray, lte } from 'drizzle-orm'
import { record, type Recorded } from '../../core/change'
import { locking } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { dnsRecords, dnsRrsets, dnsZones } from './tables'
import { byItself, changeZone, mostChanged } from './zone-changes'
import type { RrsetRow } from './zone-rows'
import { zoneTarget } from './zones'

const rrsetsAtOnce = 500
const actor = 'dns.expire'

/**
 * Removes the records whose time is up, also locked ones: that they go was said of them themselves. The event has the origin `api`,
 * as what was asked for over the API, and the system as its actor. Hubs that look at once remove them once.
 * @param zonesAtOnce that are looked at; the others have their turn the next time
 */
export async function expireRecords(hub: Hub, zonesAtOnce = 100): Promise<void> {
  const due = await hub.read
    .selectDistinct({ zoneId: dnsRrsets.zoneId })
    .from(dnsRrsets)
    // Of zones that are gone nothing is left to expire.
    .innerJoin(dnsZones, eq(dnsZones.id, dnsRrsets.zoneId))
    .where(lte(dnsRrsets.expiresAt, hub.clock.now()))
    .limit(zonesAtOnce)
  for (const { zoneId } of due) {
    try {
      await record(hub, tx => expire(tx, hub, zoneId))
    } catch (error) {
      // The zones of others must not wait for it.
      hub.log.error({ err: error, zone: zoneId }, 'records whose time is up could not be removed')
    }
  }
}

async function expire(tx: Tx, hub: Hub, zoneId: string): Promise<Recorded<undefined>> {
  const [zone] = await locking(tx.select().from(dnsZones).where(eq(dnsZones.id, zoneId)))
  if (!zone) return { result: undefined }
  const now = hub.clock.now()
  const rows = await overdue(tx, zoneId, now)
  if (rows.length === 0) return { result: undefined }
  const by = byItself(hub, zone, actor)
  const gone = rows.map(({ name, type, ttl }) => ({ name, type, ttl, comment: null, values: [], pointer: '#', unlocks: true }))
  const { zone: after, changes, events, wakes, jobs } = await changeZone(tx, by, zone, gone, { source: 'api', origin: 'api' })
  const audit = {
    workspaceId: zone.workspaceId,
    action: 'dns.records.expire' as const,
    actor: by.actor,
    context: by.context,
    targets: [zoneTarget(zone)],
    before: { serial: zone.serial },
    after: { serial: after.serial, deleted: changes.length },
    reason: `The time of ${rows
      .map(row => `${row.name} ${row.type}`)
      .slice(0, mostNamed)
      .join(', ')} was up.`,
  }
  return { result: undefined, audits: [audit], events, wakes, jobs }
}

const mostNamed = 10

/** Rrsets whose time is up, the longest overdue first, with as many records as one change may have; the others wait for the next. */
async function overdue(tx: Tx, zoneId: string, now: number): Promise<Pick<RrsetRow, 'id' | 'name' | 'type' | 'ttl'>[]> {
  const rows = await tx
    .select({ id: dnsRrsets.id, name: dnsRrsets.name, type: dnsRrsets.type, ttl: dnsRrsets.ttl })
    .from(dnsRrsets)
    .where(and(eq(dnsRrsets.zoneId, zoneId), lte(dnsRrsets.expiresAt, now)))
    .orderBy(asc(dnsRrsets.expiresAt))
    .limit(rrsetsAtOnce)
  const ids = rows.map(row => row.id)
  const sizes = await tx
    .select({ id: dnsRecords.rrsetId, n: count() })
    .from(dnsRecords)
    .where(inArray(dnsRecords.rrsetId, ids))
    .groupBy(dnsRecords.rrsetId)
  const size = new Map(sizes.map(one => [one.id, one.n]))
  let records = 0
  const end = rows.findIndex(({ id }) => (records += size.get(id) ?? 0) > mostChanged)
  return end < 0 ? rows : rows.slice(0, end)
}
