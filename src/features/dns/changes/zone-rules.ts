import { and, eq, inArray, sql } from 'drizzle-orm'
import { forIds } from '../../../core/db/id-list'
import { prepared } from '../../../core/db/prepared'
import type { Tx } from '../../../core/db/transaction'
import type { FieldProblem } from '../../../core/problem'
import { ruleViolation } from './rrset-rules'
import { dnsRecords, dnsRrsets } from '../records/tables'
import { absoluteOf, namesAbove, rrsetKey, withinZone } from '../zones/names'
import { batches, isBelow } from '../records/rows'

interface Zone {
  id: string
  name: string
}

/** An rrset that a change created or updated, with its pointer in the request. */
interface Touched {
  name: string
  type: string
  pointer: string
}

const namesAtOnce = 500
const maxChainLength = 16

/**
 * Validates changed rrsets against the rest of the zone. Call it after writing the change and before committing.
 * @param types the types at each changed name after the change
 */
export async function zoneProblems(
  tx: Tx,
  zone: Zone,
  touched: readonly Touched[],
  types: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<FieldProblem[]> {
  if (touched.length === 0) return []
  return [
    ...coexistenceProblems(touched, types),
    ...(await dnameProblems(tx, zone, touched)),
    ...(await cnameTargetProblems(tx, zone, touched)),
    ...(await loopProblems(tx, zone, touched)),
  ]
}

/** Types that can’t coexist at one name. */
function coexistenceProblems(touched: readonly Touched[], types: ReadonlyMap<string, ReadonlySet<string>>): FieldProblem[] {
  const problems: FieldProblem[] = []
  for (const { name, type, pointer } of touched) {
    const others = [...(types.get(name) ?? [])].filter(other => other !== type)
    const cname = type === 'CNAME' || others.includes('CNAME')
    // Key records may coexist with a CNAME (RFC 4034 2.5).
    const conflicting = others.filter(other => !['DNSKEY', 'KEY'].includes(other))
    if (cname && (type === 'CNAME' ? conflicting.length > 0 : !['DNSKEY', 'KEY'].includes(type))) {
      const existing = type === 'CNAME' ? `${conflicting.slice(0, 5).join(', ')} records` : 'a CNAME record'
      problems.push(
        ruleViolation(pointer, `A CNAME can’t coexist with other records; ${name} already has ${existing}`, 'RFC 1034 3.6.2'),
      )
    }
    const exclusive = name === '@' ? undefined : { DNAME: 'NS', NS: 'DNAME' }[type]
    if (exclusive && others.includes(exclusive))
      problems.push(
        ruleViolation(
          pointer,
          `NS and DNAME can’t coexist below the apex; ${name} already has ${exclusive} records`,
          'RFC 6672 2.3',
        ),
      )
    const address = others.find(other => (type === 'ALIAS' ? ['A', 'AAAA'].includes(other) : other === 'ALIAS'))
    if (address && (type === 'ALIAS' || type === 'A' || type === 'AAAA'))
      problems.push(
        ruleViolation(
          pointer,
          `ALIAS can’t coexist with A or AAAA; ${name} already has ${address} records`,
          'PowerDNS, ALIAS records',
        ),
      )
  }
  return problems
}

/** No records may exist below a DNAME. */
async function dnameProblems(tx: Tx, zone: Zone, touched: readonly Touched[]): Promise<FieldProblem[]> {
  const problems: FieldProblem[] = []
  const above = new Map(touched.map(one => [one.name, one.name === '@' ? [] : [...namesAbove(one.name), '@']]))
  const rows = await forIds([...new Set([...above.values()].flat())], (size, list, values) =>
    prepared(tx, `dns-dnames-at|${size}`, handle =>
      handle
        .select({ name: dnsRrsets.name })
        .from(dnsRrsets)
        .where(
          and(eq(dnsRrsets.zoneId, sql.placeholder('zoneId')), sql`${dnsRrsets.name} in ${list}`, eq(dnsRrsets.type, 'DNAME')),
        ),
    ).execute({ ...values, zoneId: zone.id }),
  )
  const dnames = new Set(rows.map(row => row.name))
  for (const { name, pointer } of touched) {
    const by = dnames.size > 0 && above.get(name)!.find(one => dnames.has(one))
    if (by)
      problems.push(
        ruleViolation(pointer, `${name} can’t have records because it is below ${by}, which has a DNAME`, 'RFC 6672 2.4'),
      )
  }
  for (const { name, type, pointer } of touched) {
    if (type !== 'DNAME') continue
    const [below] = await tx
      .select({ name: dnsRecords.name })
      .from(dnsRecords)
      .where(and(eq(dnsRecords.zoneId, zone.id), isBelow(name)))
      .limit(1)
    if (below) problems.push(ruleViolation(pointer, `A DNAME can’t have records below it; ${below.name} exists`, 'RFC 6672 2.4'))
  }
  return problems
}

/** Filters by type without using an index on the type, so that SQLite looks rows up by name or target instead. */
const isOfType = (types: string[]) => inArray(sql`upper(${dnsRecords.type})`, types)

const hostTypes = ['NS', 'MX', 'SRV']

/** Targets of NS, MX and SRV must not be CNAMEs. */
async function cnameTargetProblems(tx: Tx, zone: Zone, touched: readonly Touched[]): Promise<FieldProblem[]> {
  const problems: FieldProblem[] = []
  const referring = touched.filter(one => hostTypes.includes(one.type))
  const targets = new Map<string, Touched>()
  for (const some of batches(referring)) {
    const byName = new Map(some.map(one => [rrsetKey(one), one]))
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
      const one = byName.get(rrsetKey(row))
      const target = row.target === null ? null : withinZone(row.target, zone.name)
      if (one && target !== null) targets.set(target, one)
    }
  }
  for (const some of batches([...targets.keys()])) {
    const rows = await tx
      .select({ name: dnsRrsets.name })
      .from(dnsRrsets)
      .where(and(eq(dnsRrsets.zoneId, zone.id), inArray(dnsRrsets.name, some), eq(dnsRrsets.type, 'CNAME')))
    for (const { name } of rows) {
      const one = targets.get(name)!
      problems.push(ruleViolation(one.pointer, `${one.type} can’t point to ${name}, which is a CNAME`, referenceOf(one.type)))
    }
  }
  for (const some of batches(touched.filter(one => one.type === 'CNAME'))) {
    const byTarget = new Map(some.map(one => [absoluteOf(one.name, zone.name), one]))
    const rows = await tx
      .select({ name: dnsRecords.name, type: dnsRecords.type, target: dnsRecords.target })
      .from(dnsRecords)
      .where(and(eq(dnsRecords.zoneId, zone.id), inArray(dnsRecords.target, [...byTarget.keys()]), isOfType(hostTypes)))
      .limit(namesAtOnce)
    const reported = new Set<Touched>()
    for (const row of rows) {
      const one = byTarget.get(row.target!)!
      if (!reported.has(one))
        problems.push(
          ruleViolation(
            one.pointer,
            `${one.name} can’t be a CNAME because the ${row.type} record of ${row.name} points to it`,
            referenceOf(row.type),
          ),
        )
      reported.add(one)
    }
  }
  return problems
}

const referenceOf = (type: string): string => (type === 'SRV' ? 'RFC 2782' : 'RFC 2181 10.3')

/** Loops of CNAME and ALIAS records within the zone. */
async function loopProblems(tx: Tx, zone: Zone, touched: readonly Touched[]): Promise<FieldProblem[]> {
  const problems: FieldProblem[] = []
  // Follows all chains in parallel, one step at a time.
  let chains = touched.filter(one => one.type === 'CNAME' || one.type === 'ALIAS').map(from => ({ from, at: from.name }))
  for (let step = 0; step < maxChainLength && chains.length > 0; step++) {
    const next = new Map<string, string>()
    for (const some of batches([...new Set(chains.map(one => one.at))])) {
      const rows = await tx
        .select({ name: dnsRecords.name, target: dnsRecords.target })
        .from(dnsRecords)
        .where(and(eq(dnsRecords.zoneId, zone.id), inArray(dnsRecords.name, some), isOfType(['CNAME', 'ALIAS'])))
      for (const row of rows) {
        const target = row.target === null ? null : withinZone(row.target, zone.name)
        if (target !== null) next.set(row.name, target)
      }
    }
    chains = chains.flatMap(({ from, at }) => {
      const to = next.get(at)
      if (to === undefined) return []
      if (to !== from.name) return [{ from, at: to }]
      problems.push(ruleViolation(from.pointer, `${from.name} points back to itself after ${step + 1} steps`, 'RFC 1034 3.6.2'))
      return []
    })
  }
  return problems
}

/** Whether the zone has NS records at its apex, which it needs to be served and delegated. */
export async function hasNameServers(tx: Tx, zone: Zone): Promise<boolean> {
  const [row] = await tx
    .select({ n: sql`1` })
    .from(dnsRrsets)
    .where(and(eq(dnsRrsets.zoneId, zone.id), eq(dnsRrsets.name, '@'), eq(dnsRrsets.type, 'NS')))
    .limit(1)
  return row !== undefined
}
