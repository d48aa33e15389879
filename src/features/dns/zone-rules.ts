import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Tx } from '../../core/db/transaction'
import type { FieldProblem } from '../../core/problem'
import { broken } from './rrset-rules'
import { dnsRecords, dnsRrsets } from './tables'
import { absoluteOf, namesAbove, withinZone } from './zone-names'
import { isBelow } from './zone-rows'

interface Zone {
  id: string
  name: string
}

/** An rrset that a change made or altered, and where it stands in the request. */
export interface Touched {
  name: string
  type: string
  pointer: string
}

const namesAtOnce = 500
const longestChain = 16

/** What a change breaks among the rrsets of its zone; asked for once it is written, before it is committed. */
export async function zoneProblems(tx: Tx, zone: Zone, touched: readonly Touched[]): Promise<FieldProblem[]> {
  if (touched.length === 0) return []
  return [
    ...(await clashes(tx, zone, touched)),
    ...(await hiddenByDname(tx, zone, touched)),
    ...(await throughCname(tx, zone, touched)),
    ...(await loops(tx, zone, touched)),
  ]
}

/** Types that do not go together at one name. */
async function clashes(tx: Tx, zone: Zone, touched: readonly Touched[]): Promise<FieldProblem[]> {
  const types = await typesAt(tx, zone, [...new Set(touched.map(one => one.name))])
  const problems: FieldProblem[] = []
  for (const { name, type, pointer } of touched) {
    const others = [...(types.get(name) ?? [])].filter(other => other !== type)
    const cname = type === 'CNAME' || others.includes('CNAME')
    // DNSSEC is about the name itself (RFC 4034 2.5).
    const beside = others.filter(other => !['DNSKEY', 'KEY'].includes(other))
    if (cname && (type === 'CNAME' ? beside.length > 0 : !['DNSKEY', 'KEY'].includes(type))) {
      const what = type === 'CNAME' ? `${name} has ${beside.slice(0, 5).join(', ')}` : `${name} has a CNAME`
      problems.push(
        broken(pointer, `must not be beside other records: ${what}, and a CNAME is alone at its name`, 'RFC 1034 3.6.2'),
      )
    }
    const handedOn = name === '@' ? undefined : { DNAME: 'NS', NS: 'DNAME' }[type]
    if (handedOn && others.includes(handedOn))
      problems.push(
        broken(
          pointer,
          `must not be beside ${handedOn} at ${name}: a name is handed on by NS or led elsewhere by DNAME`,
          'RFC 6672 2.3',
        ),
      )
    const address = others.find(other => (type === 'ALIAS' ? ['A', 'AAAA'].includes(other) : other === 'ALIAS'))
    if (address && (type === 'ALIAS' || type === 'A' || type === 'AAAA'))
      problems.push(
        broken(
          pointer,
          `must not be beside ${address} at ${name}: ALIAS is answered with addresses of its own`,
          'PowerDNS, ALIAS records',
        ),
      )
  }
  return problems
}

async function typesAt(tx: Tx, zone: Zone, names: readonly string[]): Promise<Map<string, Set<string>>> {
  const types = new Map<string, Set<string>>()
  for (const some of inPieces(names)) {
    const rows = await tx
      .select({ name: dnsRrsets.name, type: dnsRrsets.type })
      .from(dnsRrsets)
      .where(and(eq(dnsRrsets.zoneId, zone.id), inArray(dnsRrsets.name, some)))
    for (const row of rows) types.set(row.name, (types.get(row.name) ?? new Set()).add(row.type))
  }
  return types
}

/** Nothing is below a DNAME. */
async function hiddenByDname(tx: Tx, zone: Zone, touched: readonly Touched[]): Promise<FieldProblem[]> {
  const problems: FieldProblem[] = []
  const above = new Map(touched.map(one => [one.name, one.name === '@' ? [] : [...namesAbove(one.name), '@']]))
  const dnames = new Set<string>()
  for (const some of inPieces([...new Set([...above.values()].flat())])) {
    const rows = await tx
      .select({ name: dnsRrsets.name })
      .from(dnsRrsets)
      .where(and(eq(dnsRrsets.zoneId, zone.id), inArray(dnsRrsets.name, some), eq(dnsRrsets.type, 'DNAME')))
    for (const row of rows) dnames.add(row.name)
  }
  for (const { name, pointer } of touched) {
    const by = dnames.size > 0 && above.get(name)!.find(one => dnames.has(one))
    if (by) problems.push(broken(pointer, `must not be below ${by}, whose DNAME leads all below it elsewhere`, 'RFC 6672 2.4'))
  }
  for (const { name, type, pointer } of touched) {
    if (type !== 'DNAME') continue
    const [below] = await tx
      .select({ name: dnsRecords.name })
      .from(dnsRecords)
      .where(and(eq(dnsRecords.zoneId, zone.id), isBelow(name)))
      .limit(1)
    if (below) problems.push(broken(pointer, `must have nothing below it, and there is ${below.name}`, 'RFC 6672 2.4'))
  }
  return problems
}

/** Among rows that are found by their name or target: in this form SQLite does not walk all of a type instead. */
const isOfType = (types: string[]) => inArray(sql`upper(${dnsRecords.type})`, types)

const hostTypes = ['NS', 'MX', 'SRV']

/** What NS, MX and SRV name must have addresses of its own. */
async function throughCname(tx: Tx, zone: Zone, touched: readonly Touched[]): Promise<FieldProblem[]> {
  const problems: FieldProblem[] = []
  const naming = touched.filter(one => hostTypes.includes(one.type))
  const targets = new Map<string, Touched>()
  for (const some of inPieces(naming)) {
    const byName = new Map(some.map(one => [`${one.name} ${one.type}`, one]))
    const rows = await tx
      .select({ name: dnsRecords.name, type: dnsRecords.type, target: dnsRecords.target })
      .from(dnsRecords)
      .where(
        and(
          eq(dnsRecords.zoneId, zone.id),
          inArray(
            dnsRecords.name,
            some.map(one => one.name),
          ),
          isOfType(hostTypes),
        ),
      )
    for (const row of rows) {
      const one = byName.get(`${row.name} ${row.type}`)
      const target = row.target === null ? null : withinZone(row.target, zone.name)
      if (one && target !== null) targets.set(target, one)
    }
  }
  for (const some of inPieces([...targets.keys()])) {
    const rows = await tx
      .select({ name: dnsRrsets.name })
      .from(dnsRrsets)
      .where(and(eq(dnsRrsets.zoneId, zone.id), inArray(dnsRrsets.name, some), eq(dnsRrsets.type, 'CNAME')))
    for (const { name } of rows) {
      const one = targets.get(name)!
      problems.push(
        broken(
          one.pointer,
          `must not name ${name}, which is a CNAME: ${one.type} leads to a name with addresses`,
          referenceOf(one.type),
        ),
      )
    }
  }
  for (const some of inPieces(touched.filter(one => one.type === 'CNAME'))) {
    const byTarget = new Map(some.map(one => [absoluteOf(one.name, zone.name), one]))
    const rows = await tx
      .select({ name: dnsRecords.name, type: dnsRecords.type, target: dnsRecords.target })
      .from(dnsRecords)
      .where(and(eq(dnsRecords.zoneId, zone.id), inArray(dnsRecords.target, [...byTarget.keys()]), isOfType(hostTypes)))
      .limit(namesAtOnce)
    const told = new Set<Touched>()
    for (const row of rows) {
      const one = byTarget.get(row.target!)!
      if (!told.has(one))
        problems.push(
          broken(one.pointer, `must not be a CNAME: the ${row.type} of ${row.name} leads to it`, referenceOf(row.type)),
        )
      told.add(one)
    }
  }
  return problems
}

const referenceOf = (type: string): string => (type === 'SRV' ? 'RFC 2782' : 'RFC 2181 10.3')

/** CNAMEs of the zone that lead in a circle. */
async function loops(tx: Tx, zone: Zone, touched: readonly Touched[]): Promise<FieldProblem[]> {
  const problems: FieldProblem[] = []
  // Where each walk is by now; all take a step at a time.
  let walks = touched.filter(one => one.type === 'CNAME' || one.type === 'ALIAS').map(from => ({ from, at: from.name }))
  for (let step = 0; step < longestChain && walks.length > 0; step++) {
    const next = new Map<string, string>()
    for (const some of inPieces([...new Set(walks.map(one => one.at))])) {
      const rows = await tx
        .select({ name: dnsRecords.name, target: dnsRecords.target })
        .from(dnsRecords)
        .where(and(eq(dnsRecords.zoneId, zone.id), inArray(dnsRecords.name, some), isOfType(['CNAME', 'ALIAS'])))
      for (const row of rows) {
        const target = row.target === null ? null : withinZone(row.target, zone.name)
        if (target !== null) next.set(row.name, target)
      }
    }
    walks = walks.flatMap(({ from, at }) => {
      const to = next.get(at)
      if (to === undefined) return []
      if (to !== from.name) return [{ from, at: to }]
      problems.push(
        broken(
          from.pointer,
          `must not lead back to itself: ${from.name} is reached again after ${step + 1} steps`,
          'RFC 1034 3.6.2',
        ),
      )
      return []
    })
  }
  return problems
}

function* inPieces<T>(list: readonly T[]): Generator<T[]> {
  for (let at = 0; at < list.length; at += namesAtOnce) yield list.slice(at, at + namesAtOnce)
}

/** Whether the zone still has name servers of its own, without which it cannot be served or handed on. */
export async function hasNameServers(tx: Tx, zone: Zone): Promise<boolean> {
  const [row] = await tx
    .select({ n: sql`1` })
    .from(dnsRrsets)
    .where(and(eq(dnsRrsets.zoneId, zone.id), eq(dnsRrsets.name, '@'), eq(dnsRrsets.type, 'NS')))
    .limit(1)
  return row !== undefined
}
