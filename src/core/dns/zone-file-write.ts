import { sorting } from '../turns'
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
export const writeZoneFile = (records: Iterable<ZoneRecord>, origin: string): string =>
  Array.from(zoneFileSteps(records, origin), text => text ?? '').join('')

/** The text that {@link writeZoneFile} gives, step by step: of a long zone it takes a while. */
export function* zoneFileSteps(records: Iterable<ZoneRecord>, origin: string): Generator<string | void> {
  const lines = yield* inOrder(records)
  const ttls = new Map<number, number>()
  let nameWidth = 0
  let typeWidth = 0
  for (const { record } of lines) {
    const { length } = relativeName(record.name, origin)
    if (length <= NAME_COLUMN_MAX) nameWidth = Math.max(nameWidth, length)
    typeWidth = Math.max(typeWidth, record.type.length)
    ttls.set(record.ttl, (ttls.get(record.ttl) ?? 0) + 1)
    yield
  }
  const ttl = mostFrequent(ttls)
  const ttlWidth = Math.max(0, ...[...ttls.keys()].filter(other => other !== ttl).map(other => String(other).length))
  yield `$ORIGIN ${origin}\n${ttl === null ? '' : `$TTL ${ttl}\n`}`
  for (const { record } of lines) {
    const ttlColumn = ttlWidth === 0 ? '' : ` ${(record.ttl === ttl ? '' : String(record.ttl)).padStart(ttlWidth)}`
    const name = relativeName(record.name, origin).padEnd(nameWidth)
    yield `${name}${ttlColumn} IN ${record.type.padEnd(typeWidth)} ${valueOf(record)}\n`
  }
}

interface Line {
  record: ZoneRecord
  /** By which names sort. */
  name: string
  rank: number
  rdata: Uint8Array
}

function* inOrder(records: Iterable<ZoneRecord>): Generator<void, Line[]> {
  const lines: Line[] = []
  for (const record of records) {
    lines.push({
      record,
      name: canonicalKey(record.name),
      rank: record.type === 'SOA' ? 0 : record.type === 'NS' ? 1 : 2,
      rdata: canonicalRdata(record.type, record.rdata),
    })
    yield
  }
  return yield* sorting(lines, compareLines)
}

const compareLines = (a: Line, b: Line): number =>
  ordered(a.name, b.name) ||
  a.rank - b.rank ||
  ordered(a.record.type, b.record.type) ||
  compareOctets(a.rdata, b.rdata) ||
  a.record.ttl - b.record.ttl ||
  ordered(a.record.name, b.record.name) ||
  compareOctets(a.record.rdata, b.record.rdata)

const ordered = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The smaller one of those that are equally frequent; null of nothing. @param counts by TTL */
function mostFrequent(counts: ReadonlyMap<number, number>): number | null {
  let found: number | null = null
  for (const [ttl, count] of counts) {
    const most = found === null ? 0 : counts.get(found)!
    if (count > most || (count === most && ttl < found!)) found = ttl
  }
  return found
}

const SOA_TIMES = ['serial', 'refresh', 'retry', 'expire', 'minimum']

/** An SOA on several lines with its numbers named, as people expect it; all else on one. */
function valueOf({ type, rdata }: ZoneRecord): string {
  const text = textOf(type, rdata)
  if (type !== 'SOA' || text.startsWith('\\#')) return text
  const { mname, rname, ...numbers } = fieldsOf(type, rdata)
  const lines = SOA_TIMES.map(field => `\t${String(numbers[field]).padEnd(10)} ; ${field}\n`)
  return `${mname} ${rname} (\n${lines.join('')}\t)`
}
