import { and, asc, eq, gt } from 'drizzle-orm'
import { locking } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import { nextSerial } from '../../../core/dns/serial'
import { rdataOfText } from '../../../core/dns/rdata'
import type { ServedSet, ServedZone } from '../server/served-zone'
import { dnsZones } from '../tables'
import { originOf } from '../zone-names'
import { numberChange } from '../zone-numbers'
import { dnsServing } from './tables'

export type ServingRow = typeof dnsServing.$inferSelect

const prefix = 'catalog:'

/** What a catalog zone is known by among the changes of zones. It has the name in it, so that another name is another zone. */
export const catalogId = ({ workspaceId, catalogName }: Pick<ServingRow, 'workspaceId' | 'catalogName'>): string =>
  `${prefix}${workspaceId}:${catalogName}`

export const isCatalog = (id: string): boolean => id.startsWith(prefix)

/** The catalog zones that are served. */
export async function listCatalogs(read: Reader): Promise<{ id: string }[]> {
  const rows = await read.select().from(dnsServing).where(eq(dnsServing.catalogEnabled, true))
  return rows.map(row => ({ id: catalogId(row) }))
}

/**
 * Moves the serial of a workspace's catalog, in the transaction of whatever changed which zones are served. To be called before
 * the zone's own change is numbered: edits of the settings take their row before the number too.
 * @returns the catalog, or null when there is none
 */
export async function moveCatalog(tx: Tx, workspaceId: string): Promise<ServingRow | null> {
  const [row] = await locking(
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

/** A catalog with the rows that it is made of; null when it is not served. */
export async function findCatalog(read: Reader, id: string): Promise<ServingRow | null> {
  const workspaceId = id.slice(prefix.length, id.indexOf(':', prefix.length))
  const [row] = await read.select().from(dnsServing).where(eq(dnsServing.workspaceId, workspaceId))
  return row?.catalogEnabled && catalogId(row) === id ? row : null
}

/** The catalog zone (RFC 9432): a name for each zone that is served, made of the zone's id. Null when it is not served. */
export async function readCatalog(read: Reader, id: string): Promise<ServedZone | null> {
  const row = await findCatalog(read, id)
  if (!row) return null
  const origin = originOf(row.catalogName)
  const rrsets = [
    catalogSoa(row),
    // Nobody is asked for this zone by way of its NS (RFC 9432 4.1).
    recordSet(origin, 'NS', 'invalid.'),
    recordSet(`version.${origin}`, 'TXT', '"2"'),
  ]
  for await (const zone of servedZones(read, row.workspaceId))
    rrsets.push(recordSet(`${zone.id.slice(zone.id.indexOf('_') + 1)}.zones.${origin}`, 'PTR', originOf(zone.name)))
  return { name: origin, owner: row.workspaceId, hidden: true, rrsets }
}

// Refresh, retry, expire and minimum of its SOA, in seconds. Those who are told of changes need not ask often.
const times = '3600 600 1209600 0'

export const catalogSoa = (row: ServingRow): ServedSet =>
  recordSet(originOf(row.catalogName), 'SOA', `invalid. invalid. ${row.catalogSerial} ${times}`)

const recordSet = (name: string, type: string, text: string): ServedSet => ({
  name,
  type,
  ttl: 0,
  rdata: [rdataOfText(type, text, '.')],
})

const zonesAtOnce = 1000

async function* servedZones(read: Reader, workspaceId: string): AsyncGenerator<{ id: string; name: string }> {
  for (let after = ''; ;) {
    const rows = await read
      .select({ id: dnsZones.id, name: dnsZones.name })
      .from(dnsZones)
      .where(
        and(
          eq(dnsZones.workspaceId, workspaceId),
          eq(dnsZones.status, 'active'),
          eq(dnsZones.isServed, true),
          gt(dnsZones.id, after),
        ),
      )
      .orderBy(asc(dnsZones.id))
      .limit(zonesAtOnce)
    yield* rows
    if (rows.length < zonesAtOnce) return
    after = rows.at(-1)!.id
  }
}
