import { and, asc, count, eq, gt, max } from 'drizzle-orm'
import { batchesOf } from '../../../core/db/rows-in-batches'
import type { Reader } from '../../../core/db/transaction'
import { caaProperty, type CaaProperty } from '../../../dns/caa'
import { fqdnOf } from '../zones/names'
import { dnsZones } from '../zones/tables'
import { dnsRecords, dnsRrsets } from './tables'

/** What certificates depend on in the zones of a workspace. */
interface NamesInZones {
  /** The active zones by name. */
  zones: Map<string, { id: string; isWritable: boolean }>
  /** Records with an address or a mail server. Names are in lower case A-labels, without a trailing dot. */
  records: { name: string; zoneId: string; type: string; target: string | null; isProxied: boolean }[]
  /** CAA records by name. */
  caa: Map<string, CaaProperty[]>
}

const types = ['A', 'AAAA', 'ALIAS', 'CAA', 'CNAME', 'HTTPS', 'MX']

/** Reads the names in the active zones of a workspace that certificates are for, page by page. */
export async function namesInZones(read: Reader, workspaceId: string): Promise<NamesInZones> {
  const found: NamesInZones = { zones: new Map(), records: [], caa: new Map() }
  const { id, name, apply, blockedPlanId } = dnsZones
  const zones = await read
    .select({ id, name, apply, blockedPlanId })
    .from(dnsZones)
    .where(and(eq(dnsZones.workspaceId, workspaceId), eq(dnsZones.status, 'active')))
  const names = new Map(zones.map(zone => [zone.id, zone.name]))
  for (const zone of zones) found.zones.set(zone.name, { id: zone.id, isWritable: zone.apply === 'auto' && !zone.blockedPlanId })
  for (const type of types) for await (const row of recordsOf(read, workspaceId, type)) addTo(found, names, type, row)
  return found
}

interface Row {
  zoneId: string
  name: string
  target: string | null
  rdata: Uint8Array
  options: (typeof dnsRrsets.$inferSelect)['options']
}

async function* recordsOf(read: Reader, workspaceId: string, type: string): AsyncGenerator<Row> {
  const { id, zoneId, name, target, rdata } = dnsRecords
  const page = (after: string, max: number) =>
    read
      .select({ id, zoneId, name, target, rdata, options: dnsRrsets.options })
      .from(dnsRecords)
      .innerJoin(dnsRrsets, eq(dnsRrsets.id, dnsRecords.rrsetId))
      .where(and(eq(dnsRecords.workspaceId, workspaceId), eq(dnsRecords.type, type), gt(id, after)))
      .orderBy(asc(id))
      .limit(max)
  for await (const rows of batchesOf(page, row => row.id)) yield* rows
}

function addTo({ records, caa }: NamesInZones, names: ReadonlyMap<string, string>, type: string, row: Row): void {
  const zone = names.get(row.zoneId)
  if (zone === undefined) return
  const name = fqdnOf(row.name, zone)
  if (type === 'CAA') {
    caa.set(name, [...(caa.get(name) ?? []), caaProperty(row.rdata)])
  } else {
    const target = row.target?.replace(/\.$/, '') ?? null
    records.push({ name, zoneId: row.zoneId, type, target, isProxied: row.options?.proxied === true })
  }
}

/** The active zones of a workspace. Names are in lower case A-labels. */
export const activeZones = (read: Reader, workspaceId: string): Promise<{ id: string; name: string }[]> =>
  read
    .select({ id: dnsZones.id, name: dnsZones.name })
    .from(dnsZones)
    .where(and(eq(dnsZones.workspaceId, workspaceId), eq(dnsZones.status, 'active')))
    .orderBy(asc(dnsZones.id))

/** Describes the zones of each workspace with a text that changes with any of them. */
export async function zoneStates(read: Reader): Promise<Map<string, string>> {
  const { workspaceId, updatedAt, serial } = dnsZones
  const rows = await read
    .select({ workspaceId, zones: count(), updatedAt: max(updatedAt), serial: max(serial) })
    .from(dnsZones)
    .groupBy(workspaceId)
  return new Map(rows.map(row => [row.workspaceId, `${row.zones} ${row.updatedAt} ${row.serial}`]))
}
