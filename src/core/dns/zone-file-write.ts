import { canonicalKey, relativeName } from './name'
import { compareOctets } from './octets'
import { canonicalRdata } from './rdata-names'
import { fieldsOf, textOf } from './rdata'
import type { ZoneRecord } from './zone-file'

/** Names longer than this do not widen the column of all others. */
const NAME_COLUMN_MAX = 32

/**
 * Writes a zone file that is the same for the same records, in whatever order they come: in canonical order of names
 * (RFC 4034 6.1), SOA and NS first at each, then by type, then by value. Names of records are relative to the origin,
 * those in values absolute; the most frequent TTL is `$TTL`. {@link readZoneFile} reads the same records from it.
 */
export function writeZoneFile(records: Iterable<ZoneRecord>, origin: string): string {
  const lines = inOrder(records).map(({ record }) => ({
    record,
    name: relativeName(record.name, origin),
    value: valueOf(record),
  }))
  const ttl = mostFrequent(lines.map(({ record }) => record.ttl))
  const nameWidth = widest(lines.map(({ name }) => name.length).filter(length => length <= NAME_COLUMN_MAX))
  const ttls = lines.map(({ record }) => (record.ttl === ttl ? '' : String(record.ttl)))
  const ttlWidth = widest(ttls.map(text => text.length))
  const typeWidth = widest(lines.map(({ record }) => record.type.length))
  let text = `$ORIGIN ${origin}\n${ttl === null ? '' : `$TTL ${ttl}\n`}`
  for (const [at, { record, name, value }] of lines.entries()) {
    const ttlColumn = ttlWidth === 0 ? '' : ` ${ttls[at]!.padStart(ttlWidth)}`
    text += `${name.padEnd(nameWidth)}${ttlColumn} IN ${record.type.padEnd(typeWidth)} ${value}\n`
  }
  return text
}

function inOrder(records: Iterable<ZoneRecord>) {
  return Array.from(records, record => ({
    record,
    name: canonicalKey(record.name),
    rank: record.type === 'SOA' ? 0 : record.type === 'NS' ? 1 : 2,
    rdata: canonicalRdata(record.type, record.rdata),
  })).sort(
    (a, b) =>
      ordered(a.name, b.name) ||
      a.rank - b.rank ||
      ordered(a.record.type, b.record.type) ||
      compareOctets(a.rdata, b.rdata) ||
      a.record.ttl - b.record.ttl ||
      ordered(a.record.name, b.record.name) ||
      compareOctets(a.record.rdata, b.record.rdata),
  )
}

const ordered = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The smaller one of those that are equally frequent; null of nothing. */
function mostFrequent(ttls: number[]): number | null {
  const counts = new Map<number, number>()
  for (const ttl of ttls) counts.set(ttl, (counts.get(ttl) ?? 0) + 1)
  let found: number | null = null
  for (const [ttl, count] of counts) {
    const most = found === null ? 0 : counts.get(found)!
    if (count > most || (count === most && ttl < found!)) found = ttl
  }
  return found
}

const widest = (lengths: number[]): number => lengths.reduce((most, length) => Math.max(most, length), 0)

const SOA_TIMES = ['serial', 'refresh', 'retry', 'expire', 'minimum']

/** An SOA on several lines with its numbers named, as people expect it; all else on one. */
function valueOf({ type, rdata }: ZoneRecord): string {
  const text = textOf(type, rdata)
  if (type !== 'SOA' || text.startsWith('\\#')) return text
  const { mname, rname, ...numbers } = fieldsOf(type, rdata)
  const lines = SOA_TIMES.map(field => `\t${String(numbers[field]).padEnd(10)} ; ${field}\n`)
  return `${mname} ${rname} (\n${lines.join('')}\t)`
}
