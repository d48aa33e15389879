import { and, asc, eq, gt } from 'drizzle-orm'
import { forUpdate } from '../../../core/db/dialect'
import { readPages } from '../../../core/db/pages'
import type { Reader, Tx } from '../../../core/db/transaction'
import { nextSerial } from '../../../dns/serial'
import { rdataOfText } from '../../../dns/rdata'
import type { ServedSet, ServedZone } from '../server/served-zone'
import { dnsZones } from '../zones/tables'
import { originOf } from '../zones/names'
import { numberChange } from '../publish/number-change'
import { dnsServing } from './tables'

export type ServingRow = typeof dnsServing.$inferSelect

const prefix = 'catalog:'

/** Id of a catalog zone in the change feed. Contains the name, so that a renamed catalog is a different zone. */
export const catalogId = ({ workspaceId, catalogName }: Pick<ServingRow, 'workspaceId' | 'catalogName'>): string =>
  `${prefix}${workspaceId}:${catalogName}`

export const isCatalog = (id: string): boolean => id.startsWith(prefix)

/** Lists the served catalog zones. */
export async function listCatalogs(read: Reader): Promise<{ id: string }[]> {
  const rows = await read.select().from(dnsServing).where(eq(dnsServing.catalogEnabled, true))
  return rows.map(row => ({ id: catalogId(row) }))
}

/**
 * Increases the serial of a workspace's catalog, in the transaction that changes which zones are served. Call this before
 * numbering the zone's own change, to lock in the same order as updates of the settings.
 * @returns the catalog, or null if there is none
 */
export async function bumpCatalogSerial(tx: Tx, workspaceId: string): Promise<ServingRow | null> {
  const [row] = await forUpdate(
    tx
      .select()
      .from(dnsServing)
      .where(and(eq(dnsServing.workspaceId, workspaceId), eq(dnsServing.catalogEnabled, true))),
  )
  if (!row) return null
  const [moved] = await tx
    .update(dnsServing)
    .set({ catalogSerial: nextSerial(row.catalogSerial) })
    .where(eq(dnsServing.workspaceId, workspaceId))
    .returning()
  await numberChange(tx, { id: catalogId(row), name: row.catalogName }, null)
  return moved!
}

/** Finds a catalog by id; null if it is not served. */
export async function findCatalog(read: Reader, id: string): Promise<ServingRow | null> {
  const workspaceId = id.slice(prefix.length, id.indexOf(':', prefix.length))
  const [row] = await read.select().from(dnsServing).where(eq(dnsServing.workspaceId, workspaceId))
  return row?.catalogEnabled && catalogId(row) === id ? row : null
}

/** Builds the catalog zone (RFC 9432), with one PTR record per served zone; null if it is not served. */
export async function readCatalog(read: Reader, id: string): Promise<ServedZone | null> {
  const row = await findCatalog(read, id)
  if (!row) return null
  const origin = originOf(row.catalogName)
  const rrsets = [
    catalogSoa(row),
    // The zone is never resolved through its NS (RFC 9432 section 4.1).
    recordSet(origin, 'NS', 'invalid.'),
    recordSet(`version.${origin}`, 'TXT', '"2"'),
  ]
  for await (const zones of servedZones(read, row.workspaceId))
    for (const zone of zones)
      rrsets.push(recordSet(`${zone.id.slice(zone.id.indexOf('_') + 1)}.zones.${origin}`, 'PTR', originOf(zone.name)))
  return { name: origin, owner: row.workspaceId, hidden: true, rrsets }
}

// SOA refresh, retry, expire and minimum, in seconds. Secondaries get a NOTIFY, so they don't have to poll often.
const soaTimers = '3600 600 1209600 0'

export const catalogSoa = (row: ServingRow): ServedSet =>
  recordSet(originOf(row.catalogName), 'SOA', `invalid. invalid. ${row.catalogSerial} ${soaTimers}`)

const recordSet = (name: string, type: string, text: string): ServedSet => ({
  name,
  type,
  ttl: 0,
  rdata: [rdataOfText(type, text, '.')],
})

const zonesPerQuery = 1000

function servedZones(read: Reader, workspaceId: string): AsyncGenerator<{ id: string; name: string }[]> {
  const isServed = and(eq(dnsZones.workspaceId, workspaceId), eq(dnsZones.status, 'active'), eq(dnsZones.isServed, true))
  return readPages(zonesPerQuery, last =>
    read
      .select({ id: dnsZones.id, name: dnsZones.name })
      .from(dnsZones)
      .where(and(isServed, gt(dnsZones.id, last?.id ?? '')))
      .orderBy(asc(dnsZones.id))
      .limit(zonesPerQuery),
  )
}
