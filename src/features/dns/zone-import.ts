import { Type, type Static } from '@sinclair/typebox'
import { eq } from 'drizzle-orm'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { DnsFormatError } from '../../core/dns/format-error'
import { lowerName } from '../../core/dns/name'
import { fieldsOf } from '../../core/dns/rdata'
import { TTL_MAX } from '../../core/dns/ttl'
import { readZoneFile, ZoneFileError, type ZoneRecord } from '../../core/dns/zone-file'
import type { Tx } from '../../core/db/transaction'
import { requireMatch } from '../../core/if-match'
import { invalid, type FieldProblem } from '../../core/problem'
import { Line, Shape, Words } from '../../core/shapes'
import { importModes, type ZoneImported } from './record-shapes'
import { isMadeBySigning, typeOf, valueOfRdata } from './record-values'
import type { WantedRrset } from './rrset-rules'
import { countsOf } from './rrsets'
import { ruleProblem } from './rule-problems'
import { allowing } from './sync/allowing'
import type { BlockCode } from './sync/guards'
import { editsOf } from './sync/zone-edits'
import { dnsRrsets } from './tables'
import { changeZone, nextSerial, type ZoneEdit } from './zone-changes'
import { rrsetKey, zoneHeld, type ZoneRow } from './zone-rows'
import { originOf, recordNameOf } from './zone-names'
import { zoneOf, zoneTarget } from './zones'

export const mostImported = 8 * 1024 * 1024
// More than any plan has in a zone but one without limits: what is read is kept in memory until it is written.
const mostRecords = 100_000

/** Of what an import holds back, reasons about what is lost: what is new was asked for by the file. */
const lossCodes = [
  'deletes_over_limit',
  'zone_emptied',
  'loses_apex_ns',
  'loses_apex_mx',
  'loses_apex_address',
  'loses_ds',
  'loses_caa',
] as const satisfies readonly BlockCode[]

export const ImportQuery = Shape({
  mode: Type.Optional(
    Words(importModes, {
      description: '`replace` when absent, for a zone that is as it was made; for every other `merge`.',
    }),
  ),
  allow: Type.Optional(
    Type.Array(Words(lossCodes), {
      minItems: 1,
      maxItems: lossCodes.length,
      description: 'Reasons of a `plan_blocked` to override.',
    }),
  ),
  note: Type.Optional(Line({ maxLength: 500, description: 'Why, for the audit log; required with `allow`.' })),
})

const example =
  '$ORIGIN example.com.\n$TTL 3600\n@ IN SOA ns1 hostmaster 2026112101 1h 10m 2w 5m\n@ IN NS ns1\nns1 IN A 192.0.2.53\nwww IN CNAME @\n'
/** Media types of a zone file: RFC 4027, and what programs send that do not know it. */
export const importExamples: Record<string, string> = { 'text/dns': example, 'text/plain': example }

/** @throws Problem 404, 412, 422 pointing to lines, 409 `plan_blocked`, 403 `plan_limit_reached` */
export async function importZone(
  ctx: Ctx,
  id: string,
  file: Uint8Array,
  { mode: asked, ...overriding }: Static<typeof ImportQuery>,
): Promise<ZoneImported> {
  const zoneName = (await zoneOf(ctx.hub.read, ctx, id)).name
  const read = await readFile(textOfFile(file), zoneName)
  return await change(ctx, 'dns.zone.import', async tx => {
    const zone = await zoneHeld(tx, ctx, id)
    requireMatch(ctx, zone)
    const mode = asked ?? (zone.version === 1 ? 'replace' : 'merge')
    const wanted =
      mode === 'replace' ? [...(await removals(tx, zone, read.rrsets)), ...read.rrsets.values()] : [...read.rrsets.values()]
    const allowed = mode === 'replace' && zone.version > 1 ? await lossesAllowed(tx, zone, wanted, overriding) : []
    const edit = mode === 'replace' && read.soa ? soaOf(zone, read.soa) : undefined
    const made = await changeZone(tx, ctx, zone, wanted, { source: 'import', origin: 'import', ...(edit && { edit }) })
    const told = { serial: made.zone.serial, ...countsOf(made.changes), mode }
    return {
      result: { zone_id: id, ...told, skipped: read.skipped },
      target: zoneTarget(zone),
      before: { serial: zone.serial },
      after: { ...told, ...(allowed.length > 0 && { allowed }) },
      reason: overriding.note ?? null,
      events: made.events,
      wakes: made.wakes,
      jobs: made.jobs,
      unchanged: made.unchanged,
    }
  })
}

/** @throws Problem 409 `plan_blocked` for what would be lost and was not allowed, 422 without a note */
async function lossesAllowed(
  tx: Tx,
  zone: ZoneRow,
  wanted: readonly WantedRrset[],
  overriding: Pick<Static<typeof ImportQuery>, 'allow' | 'note'>,
): Promise<string[]> {
  const { reasons } = await editsOf(tx, zone, wanted)
  return allowing(
    reasons.filter(one => lossCodes.includes(one.code as never)),
    overriding,
    {},
    '#/query/note',
  )
}

/** @throws Problem 422 for what is no UTF-8 */
function textOfFile(file: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file)
  } catch {
    throw invalid([{ pointer: '#', code: 'character', detail: 'must be text in UTF-8.' }])
  }
}

interface FileRead {
  rrsets: Map<string, WantedRrset>
  soa: ZoneRecord | null
  skipped: number
}

const mostProblems = 20
// So often others have their turn while a long file is read.
const recordsAtOnce = 2000

/** The records of a file by name and type; of equal ones the first is taken, as name servers do. @throws Problem 422 */
async function readFile(text: string, zoneName: string): Promise<FileRead> {
  const read: FileRead = { rrsets: new Map(), soa: null, skipped: 0 }
  const hashes = new Map<string, Set<string>>()
  const problems: FieldProblem[] = []
  let count = 0
  try {
    for (const record of readZoneFile(text, { origin: originOf(zoneName), defaultTtl: null })) {
      try {
        take(read, hashes, record, zoneName)
      } catch (error) {
        if (!(error instanceof DnsFormatError)) throw error
        problems.push(ruleProblem(error, lineOf(record.line)))
        if (problems.length >= mostProblems) break
      }
      if (++count > mostRecords) {
        const detail = `must be within the first ${mostRecords} records of the file: import the others in a file of their own.`
        throw invalid([...problems, { pointer: lineOf(record.line), code: 'too_many', detail }])
      }
      if (count % recordsAtOnce === 0) await Bun.sleep(0)
    }
  } catch (error) {
    if (!(error instanceof ZoneFileError)) throw error
    problems.push(ruleProblem(error, lineOf(error.line)))
  }
  if (problems.length > 0) throw invalid(problems)
  return read
}

const lineOf = (line: number): string => `#/lines/${line}`

function take(read: FileRead, hashes: Map<string, Set<string>>, record: ZoneRecord & { line: number }, zoneName: string): void {
  if (isMadeBySigning(record.type)) {
    read.skipped++
    return
  }
  const name = recordNameOf(lowerName(record.name), zoneName)
  if (record.type === 'SOA') {
    if (name !== '@') throw new DnsFormatError('An SOA must be at the apex', null, 'RFC 1035 5.2')
    if (read.soa) throw new DnsFormatError('A zone must have one SOA', null, 'RFC 1035 5.2')
    for (const [field, seconds] of Object.entries(fieldsOf('SOA', record.rdata))) {
      if (field !== 'serial' && typeof seconds === 'number' && seconds > TTL_MAX)
        throw new DnsFormatError(`${field} must be 0–${TTL_MAX} seconds`, null, 'RFC 2181 8')
    }
    read.soa = record
    return
  }
  const type = typeOf(record.type)
  const key = rrsetKey({ name, type })
  const value = valueOfRdata(type, record.rdata)
  const pointer = lineOf(record.line)
  let rrset = read.rrsets.get(key)
  if (!rrset) {
    // The TTL of the first is that of all (RFC 2181 section 5.2).
    read.rrsets.set(key, (rrset = { name, type, ttl: record.ttl, comment: null, values: [], pointer }))
    hashes.set(key, new Set())
  }
  const known = hashes.get(key)!
  if (known.has(value.hash)) return
  known.add(value.hash)
  rrset.values.push({ ...value, pointer })
}

/** What is in the zone and not in the file. */
async function removals(tx: Tx, zone: ZoneRow, kept: ReadonlyMap<string, WantedRrset>): Promise<WantedRrset[]> {
  const rows = await tx
    .select({ name: dnsRrsets.name, type: dnsRrsets.type, ttl: dnsRrsets.ttl, comment: dnsRrsets.comment })
    .from(dnsRrsets)
    .where(eq(dnsRrsets.zoneId, zone.id))
  return rows.filter(row => !kept.has(rrsetKey(row))).map(row => ({ ...row, values: [], pointer: '#' }))
}

/** The SOA of the file as members of the zone; undefined where it is that of the zone already. */
function soaOf(zone: ZoneRow, { ttl, rdata }: ZoneRecord): ZoneEdit | undefined {
  const { mname, rname, serial, refresh, retry, expire, minimum } = fieldsOf('SOA', rdata) as {
    mname: string
    rname: string
  } & Record<'serial' | 'refresh' | 'retry' | 'expire' | 'minimum', number>
  const given = {
    soaMname: mname,
    soaRname: rname,
    soaTtl: ttl,
    soaRefresh: refresh,
    soaRetry: retry,
    soaExpire: expire,
    soaMinimum: minimum,
  }
  const same = Object.entries(given).every(([column, value]) => zone[column as keyof typeof given] === value)
  if (same && serial === zone.serial) return undefined
  // A serial that steps back would keep secondaries from asking again.
  return { ...given, serial: isAhead(serial, zone.serial) ? serial : nextSerial(zone.serial) }
}

/** Serial number arithmetic (RFC 1982 section 3.2). */
const isAhead = (serial: number, of: number): boolean => serial !== of && (serial - of) >>> 0 < 0x8000_0000
