import { sortInSteps } from '../core/time-slices'
import { canonicalKey, relativeName } from './name'
import { compareOctets } from './octets'
import { canonicalRdata } from './rdata-names'
import { fieldsOf, textOf } from './rdata'
import type { ZoneRecord } from './zone-file'

/** Longer names don't widen the name column. */
const NAME_COLUMN_MAX = 32

/**
 * Writes a zone file that is identical for the same records in any order: sorted by canonical name (RFC 4034 section 6.1), with SOA and NS
 * first, then by type and value. Owner names are relative to the origin, names in values absolute. The most frequent TTL is `$TTL`.
 * {@link readZoneFile} returns the same records.
 */
export const writeZoneFile = (records: Iterable<ZoneRecord>, origin: string): string =>
  Array.from(zoneFileSteps(records, origin), text => text ?? '').join('')

/** Yields the text of {@link writeZoneFile} in pieces: large zones take a while. */
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
  /** Sort key of the name. */
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
  return yield* sortInSteps(lines, compareLines)
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

/** The most frequent TTL; the smaller one on a tie; null without records. @param counts by TTL */
function mostFrequent(counts: ReadonlyMap<number, number>): number | null {
  let found: number | null = null
  for (const [ttl, count] of counts) {
    const maxCount = found === null ? 0 : counts.get(found)!
    if (count > maxCount || (count === maxCount && ttl < found!)) found = ttl
  }
  return found
}

const SOA_TIMES = ['serial', 'refresh', 'retry', 'expire', 'minimum']

/** Formats an SOA on several lines with named numbers, and everything else on one line. */
function valueOf({ type, rdata }: ZoneRecord): string {
  const text = textOf(type, rdata)
  if (type !== 'SOA' || text.startsWith('\\#')) return text
  const { mname, rname, ...numbers } = fieldsOf(type, rdata)
  const lines = SOA_TIMES.map(field => `\t${String(numbers[field]).padEnd(10)} ; ${field}\n`)
  return `${mname} ${rname} (\n${lines.join('')}\t)`
}
