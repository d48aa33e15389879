import { and, eq, inArray } from 'drizzle-orm'
import type { Family, Found } from '../../../core/dns-client/addresses'
import type { Reader } from '../../../core/db/transaction'
import { labelsOf, nameOf } from '../../../core/dns/name'
import { textOf } from '../../../core/dns/rdata'
import { dnsRecords, dnsRrsets, dnsZones } from '../tables'
import { absoluteOf, namesAbove, withinZone } from '../zone-names'
import { isBelow } from '../zone-rows'

/** Where a name leads as far as the zones of a workspace know: addresses, or a name that others have to be asked for. */
export type Followed = Way & ({ found: Record<Family, Found> } | { elsewhere: string; ttl: number })

/** The names on the way, the first of them too, and the zones that they are in. */
export interface Way {
  names: string[]
  zoneIds: string[]
}

const longestChain = 16
const emptyTtl = 60

/**
 * Follows a name over CNAME, ALIAS and DNAME of the zones of a workspace. Those of others are asked for as everything elsewhere is: a zone
 * may be made by whoever does not own its name, or hold what its owner tells to nobody.
 * @param name absolute, in lower case
 */
export async function follow(read: Reader, workspaceId: string, name: string): Promise<Followed> {
  const seen = new Set<string>()
  const zoneIds: string[] = []
  const way = () => ({ names: [...seen], zoneIds })
  let ttl = Infinity
  for (let at = name; seen.size < longestChain && !seen.has(at);) {
    seen.add(at)
    const zone = await zoneOfName(read, workspaceId, at)
    if (!zone) return { ...way(), elsewhere: at, ttl }
    zoneIds.push(zone.id)
    const asked = withinZone(at, zone.name)!
    const above = asked === '@' ? [] : [...namesAbove(asked), '@']
    const rows = await recordsAt(read, zone.id, [asked, ...above, ...above.map(wildcardOf)])
    if (rows.some(row => row.type === 'NS' && row.name !== '@' && !isWildcard(row.name))) return { ...way(), elsewhere: at, ttl }
    const dname = rows.find(row => row.type === 'DNAME' && above.includes(row.name))
    const own = rows.some(row => isWildcard(row.name)) ? await sourceOf(read, zone.id, asked, rows) : asked
    const next = dname ?? rows.find(row => row.name === own && (row.type === 'CNAME' || row.type === 'ALIAS'))
    if (!next) {
      return { ...way(), found: { A: addressesIn(rows, own, 'A', ttl), AAAA: addressesIn(rows, own, 'AAAA', ttl) } }
    }
    ttl = Math.min(ttl, next.ttl)
    at = dname ? below(at, absoluteOf(dname.name, zone.name), dname.target!) : next.target!
  }
  const none = { addresses: [], ttl: emptyTtl }
  return { ...way(), found: { A: none, AAAA: none } }
}

const wildcardOf = (name: string): string => (name === '@' ? '*' : `*.${name}`)
const isWildcard = (name: string): boolean => name === '*' || name.startsWith('*.')

/** The name whose records are told for a name: its own, or the wildcard below the closest name above it that exists (RFC 4592 section 3.3.1). */
async function sourceOf(read: Reader, zoneId: string, asked: string, rows: readonly RecordAt[]): Promise<string> {
  const exists = async (name: string) =>
    name === '@' || rows.some(row => row.name === name) || (await hasBelow(read, zoneId, name))
  if (await exists(asked)) return asked
  for (const name of [...namesAbove(asked), '@']) {
    const wildcard = wildcardOf(name)
    if (rows.some(row => row.name === wildcard)) return wildcard
    if (await exists(name)) break
  }
  return asked
}

async function hasBelow(read: Reader, zoneId: string, name: string): Promise<boolean> {
  const [row] = await read
    .select({ id: dnsRecords.id })
    .from(dnsRecords)
    .where(and(eq(dnsRecords.zoneId, zoneId), isBelow(name)))
    .limit(1)
  return row !== undefined
}

function addressesIn(rows: RecordAt[], own: string, type: Family, most: number): Found {
  const records = rows.filter(row => row.name === own && row.type === type)
  const ttl = Math.min(most, ...records.map(row => row.ttl))
  return { addresses: records.map(row => textOf(type, row.rdata)).sort(), ttl: Number.isFinite(ttl) ? ttl : emptyTtl }
}

/** The labels of a name in front of one name, in front of another (RFC 6672 section 2.2). */
const below = (name: string, from: string, to: string): string =>
  nameOf([...labelsOf(name).slice(0, labelsOf(name).length - labelsOf(from).length), ...labelsOf(to)])

/** The zone of a workspace that a name is in, the deepest of those that are active. */
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
