import { and, eq, inArray } from 'drizzle-orm'
import type { Family, Found } from '../../../dns/client/addresses'
import type { Reader } from '../../../core/db/transaction'
import { labelsOf, nameOf } from '../../../dns/name'
import { textOf } from '../../../dns/rdata'
import { dnsRecords, dnsRrsets } from '../records/tables'
import { dnsZones } from '../zones/tables'
import { absoluteOf, namesAbove, withinZone } from '../zones/names'
import { isBelow } from '../records/rows'

/** Result of following a name through the zones of a workspace: its addresses, or a name that must be resolved externally. */
type FollowResult = AliasPath & ({ found: Record<Family, Found> } | { external: string; ttl: number })

/** The names that were followed, including the first, and the zones they are in. */
export interface AliasPath {
  names: string[]
  zoneIds: string[]
}

const maxChainLength = 16
const emptyTtl = 60

/**
 * Follows a name through CNAME, ALIAS and DNAME records in the zones of a workspace. Zones of other workspaces are resolved
 * externally: their owners haven’t proven that they own the name, and may not want to disclose the contents.
 * @param name absolute, in lower case
 */
export async function follow(read: Reader, workspaceId: string, name: string): Promise<FollowResult> {
  const seen = new Set<string>()
  const zoneIds: string[] = []
  const path = () => ({ names: [...seen], zoneIds })
  let ttl = Infinity
  for (let at = name; seen.size < maxChainLength && !seen.has(at);) {
    seen.add(at)
    const zone = await zoneOfName(read, workspaceId, at)
    if (!zone) return { ...path(), external: at, ttl }
    zoneIds.push(zone.id)
    const relative = withinZone(at, zone.name)!
    const above = relative === '@' ? [] : [...namesAbove(relative), '@']
    const rows = await recordsAt(read, zone.id, [relative, ...above, ...above.map(wildcardOf)])
    if (rows.some(row => row.type === 'NS' && row.name !== '@' && !isWildcard(row.name))) return { ...path(), external: at, ttl }
    const dname = rows.find(row => row.type === 'DNAME' && above.includes(row.name))
    const own = rows.some(row => isWildcard(row.name)) ? await recordSourceOf(read, zone.id, relative, rows) : relative
    const next = dname ?? rows.find(row => row.name === own && (row.type === 'CNAME' || row.type === 'ALIAS'))
    if (!next) {
      return { ...path(), found: { A: addressesIn(rows, own, 'A', ttl), AAAA: addressesIn(rows, own, 'AAAA', ttl) } }
    }
    ttl = Math.min(ttl, next.ttl)
    at = dname ? replaceSuffix(at, absoluteOf(dname.name, zone.name), dname.target!) : next.target!
  }
  const none = { addresses: [], ttl: emptyTtl }
  return { ...path(), found: { A: none, AAAA: none } }
}

const wildcardOf = (name: string): string => (name === '@' ? '*' : `*.${name}`)
const isWildcard = (name: string): boolean => name === '*' || name.startsWith('*.')

/**
 * The name whose records answer for a name: the name itself, or the wildcard at its closest encloser (RFC 4592 section 3.3.1).
 */
async function recordSourceOf(read: Reader, zoneId: string, relative: string, rows: readonly RecordAt[]): Promise<string> {
  const exists = async (name: string) =>
    name === '@' || rows.some(row => row.name === name) || (await hasBelow(read, zoneId, name))
  if (await exists(relative)) return relative
  for (const name of [...namesAbove(relative), '@']) {
    const wildcard = wildcardOf(name)
    if (rows.some(row => row.name === wildcard)) return wildcard
    if (await exists(name)) break
  }
  return relative
}

async function hasBelow(read: Reader, zoneId: string, name: string): Promise<boolean> {
  const [row] = await read
    .select({ id: dnsRecords.id })
    .from(dnsRecords)
    .where(and(eq(dnsRecords.zoneId, zoneId), isBelow(name)))
    .limit(1)
  return row !== undefined
}

function addressesIn(rows: RecordAt[], own: string, type: Family, maxTtl: number): Found {
  const records = rows.filter(row => row.name === own && row.type === type)
  const ttl = Math.min(maxTtl, ...records.map(row => row.ttl))
  return { addresses: records.map(row => textOf(type, row.rdata)).sort(), ttl: Number.isFinite(ttl) ? ttl : emptyTtl }
}

/** Replaces the suffix of a name, as a DNAME does (RFC 6672 section 2.2). */
const replaceSuffix = (name: string, from: string, to: string): string =>
  nameOf([...labelsOf(name).slice(0, labelsOf(name).length - labelsOf(from).length), ...labelsOf(to)])

/** The most specific active zone of a workspace that contains a name. */
async function zoneOfName(read: Reader, workspaceId: string, name: string): Promise<{ id: string; name: string } | null> {
  const labels = labelsOf(name)
  const names = labels.map((_, place) => nameOf(labels.slice(place)).slice(0, -1))
  if (names.length === 0) return null
  const rows = await read
    .select({ id: dnsZones.id, name: dnsZones.name })
    .from(dnsZones)
    .where(and(inArray(dnsZones.name, names), eq(dnsZones.workspaceId, workspaceId), eq(dnsZones.status, 'active')))
  return rows.sort((a, b) => b.name.length - a.name.length)[0] ?? null
}

type RecordAt = Awaited<ReturnType<typeof recordsAt>>[number]
const recordsAt = (read: Reader, zoneId: string, names: string[]) =>
  read
    .select({
      name: dnsRrsets.name,
      type: dnsRrsets.type,
      ttl: dnsRrsets.ttl,
      target: dnsRecords.target,
      rdata: dnsRecords.rdata,
    })
    .from(dnsRrsets)
    .innerJoin(dnsRecords, eq(dnsRecords.rrsetId, dnsRrsets.id))
    .where(and(eq(dnsRrsets.zoneId, zoneId), inArray(dnsRrsets.name, names)))
