import { oneLine } from '../../../core/one-line'
import { catchFormatError, DnsFormatError } from '../../../dns/format-error'
import { lowerName } from '../../../dns/name'
import { octetsJson, octetsOf } from '../../../dns/octets'
import { fieldsOf, rdataOfFields, rdataOfText, rdataOfTxt, textOf, txtValue } from '../../../dns/rdata'
import { ttlReceived } from '../../../dns/ttl'
import { recordTypes } from '../../../dns/types'
import { originOf, rrsetKey } from '../zones/names'
import { ProviderError, type ForeignEntry, type ProviderRrset, type UnsupportedRrset } from './provider'

/** A record at DigitalOcean, which stores single records with ids and TTLs. */
export interface DigitalOceanRecord {
  id: number
  name: string
  type: string
  ttl: number
  rdata: Uint8Array
}

/** An rrset with its records. */
export interface DigitalOceanRrset extends ProviderRrset {
  records: DigitalOceanRecord[]
}

/** Fields of an API record that contain its value. */
type RecordMembers = { data: string; priority?: number; port?: number; weight?: number; flags?: number; tag?: string }

/** How a type is converted from and to fields of the API. `origin` is the zone. */
interface Shape {
  read(row: Record<string, unknown>, origin: string): Uint8Array
  write(fields: Record<string, unknown>, rdata: Uint8Array): RecordMembers
}

const plain = (type: string): Shape => ({
  read: ({ data }) => rdataOfText(type, textIn(data), null),
  write: (_, rdata) => ({ data: textOf(type, rdata) }),
})

const target = (type: string): Shape => ({
  read: ({ data }, origin) => rdataOfText(type, nameIn(data, origin), null),
  write: (_, rdata) => ({ data: textOf(type, rdata) }),
})

/** The supported types (docs.digitalocean.com/reference/api, Domain Records). DigitalOcean manages the SOA. */
const shapes: Readonly<Record<string, Shape>> = {
  // Looked up by types from the API.
  __proto__: null!,
  A: plain('A'),
  AAAA: plain('AAAA'),
  CNAME: target('CNAME'),
  NS: target('NS'),
  MX: {
    read: ({ data, priority }, origin) => rdataOfFields('MX', { preference: priority, exchange: nameIn(data, origin) }, null),
    write: ({ preference, exchange }) => ({ data: exchange as string, priority: preference as number }),
  },
  SRV: {
    read: ({ data, priority, weight, port }, origin) =>
      rdataOfFields('SRV', { priority, weight, port, target: nameIn(data, origin) }, null),
    write: fields => ({
      data: fields.target as string,
      priority: fields.priority as number,
      weight: fields.weight as number,
      port: fields.port as number,
    }),
  },
  CAA: {
    read: ({ data, flags, tag }) => rdataOfFields('CAA', { flags, tag, value: textIn(data) }, null),
    // The API requires a dot at the end of names, and returns them without.
    write: ({ flags, tag, value }) => ({
      data: tag === 'iodef' ? (value as string) : `${String(value)}.`,
      flags: flags as number,
      tag: tag as string,
    }),
  },
  TXT: {
    read: ({ data }) => rdataOfTxt(octetsOf(data)),
    write: (_, rdata) => ({ data: Buffer.from(txtValue(rdata)).toString() }),
  },
}

export const unsupportedTypes: ReadonlySet<string> = new Set(
  recordTypes.map(({ name }) => name).filter(name => shapes[name] === undefined),
)

export const digitalOceanTtl = { min: 30, max: 0x7fffffff }

/** Parses rows of the record list, without the SOA and what this version doesn't know. @throws ProviderError `invalid_response` */
export function recordsOfRows(rows: readonly Record<string, unknown>[], zoneName: string): DigitalOceanRecord[] {
  return rows.flatMap(row => {
    const { id, type, ttl } = row
    if (!Number.isSafeInteger(id) || typeof type !== 'string' || typeof row.name !== 'string' || !Number.isSafeInteger(ttl))
      throw invalidFormat('has a record without an ID, name, type, or TTL')
    const shape = shapes[type]
    if (!shape) return []
    const name = lowerName(row.name)
    const rdata = catchFormatError(
      () => shape.read(row, originOf(zoneName)),
      () => null,
    )
    return rdata === null ? [] : [{ id: id as number, name, type, ttl: ttlReceived(ttl as number), rdata }]
  })
}

/** Records with a type or value that this version doesn't know. @param parsed the others, from the same rows */
export function foreignOfRows(rows: readonly Record<string, unknown>[], parsed: readonly DigitalOceanRecord[]): ForeignEntry[] {
  const known = new Set<unknown>(parsed.map(one => one.id))
  return rows
    .filter(({ id, type }) => type !== 'SOA' && !known.has(id))
    .map(({ name, type, data }) => ({
      name: lowerName(String(name)),
      type: String(type),
      detail: oneLine(`DigitalOcean record${typeof data === 'string' ? `: ${data}` : ''}`, 200),
    }))
}

/** Groups records into rrsets, by {@link rrsetKey}. If their TTLs differ, uses the lowest (RFC 2181 section 5.2). */
export function rrsetsOfRecords(records: readonly DigitalOceanRecord[]): Map<string, DigitalOceanRrset> {
  const groups = Map.groupBy(records, rrsetKey)
  return new Map(
    [...groups].map(([key, same]) => {
      const { name, type } = same[0]!
      const ttl = Math.min(...same.map(one => one.ttl))
      return [key, { name, type, ttl, values: same.map(one => one.rdata), records: same }]
    }),
  )
}

/** Converts a record to an API request. */
export const bodyOf = ({ name, type, ttl }: Pick<ProviderRrset, 'name' | 'type' | 'ttl'>, rdata: Uint8Array): object => ({
  type,
  name,
  ttl,
  ...shapes[type]!.write(fieldsOf(type, rdata), rdata),
})

/** Finds what DigitalOcean doesn't support, as far as that is known without asking. */
export function unsupportedAtDigitalOcean({ name, type, ttl, values }: ProviderRrset): UnsupportedRrset[] {
  const broken = new Set<string>()
  if (!shapes[type]) broken.add(`DigitalOcean doesn’t support ${type} records.`)
  if (!/^(?:@|[a-z0-9_*.-]+)$/.test(name)) broken.add(plainNames)
  if (ttl < digitalOceanTtl.min || ttl > digitalOceanTtl.max)
    broken.add(`The TTL must be between ${digitalOceanTtl.min} and ${digitalOceanTtl.max} seconds at DigitalOcean.`)
  for (const value of values) for (const rule of valueRules[type]?.(value) ?? []) broken.add(rule)
  return [...broken].map(detail => ({ name, type, detail }))
}

// The limit counts the text in quotes and with escapes.
const maxTextLength = 509

const plainNames = 'DigitalOcean supports only letters, digits, hyphens, and underscores in names.'

/** Rules for the name that a record points to. */
const pointing =
  (type: string, field: string, mayBeRoot = false) =>
  (value: Uint8Array): string[] => {
    const name = String(fieldsOf(type, value)[field])
    if (name !== '.') return /^(?:[\w*-]+\.)+$/.test(name) ? [] : [plainNames]
    return mayBeRoot ? [] : [`DigitalOcean doesn’t support ${type} records that point to the root.`]
  }

/** Rules for values of a type. */
const valueRules: Readonly<Record<string, (value: Uint8Array) => string[]>> = {
  __proto__: null!,
  CNAME: pointing('CNAME', 'target'),
  NS: pointing('NS', 'target'),
  MX: pointing('MX', 'exchange'),
  SRV: pointing('SRV', 'target', true),
  CAA(rdata) {
    const { tag, value } = fieldsOf('CAA', rdata)
    const broken: string[] = []
    if (!['issue', 'issuewild', 'iodef'].includes(String(tag)))
      broken.push('DigitalOcean supports only the CAA tags issue, issuewild, and iodef.')
    if (typeof value !== 'string' || /\s|\.$/.test(value) || value === '')
      broken.push('DigitalOcean doesn’t support CAA values that are empty, contain spaces, or end with a dot.')
    return broken
  },
  TXT(rdata) {
    const text = octetsJson(txtValue(rdata))
    // Backslashes and quotes around the text would be treated as escapes and removed.
    if (typeof text !== 'string' || /[\\\p{Cc}]/u.test(text) || /^".*"$/.test(text))
      return ['DigitalOcean supports only TXT records with UTF-8 text without backslashes and enclosing quotation marks.']
    if (text === '') return ['DigitalOcean doesn’t support empty TXT records.']
    return textOf('TXT', rdataOfTxt(txtValue(rdata))).length > maxTextLength
      ? [`DigitalOcean limits TXT records to ${maxTextLength} characters, including quotation marks and escapes.`]
      : []
  },
}

const textIn = (value: unknown): string => {
  if (typeof value !== 'string') throw new DnsFormatError('must have data')
  return value
}

/** Names are returned without the dot at the end; `@` is the zone. */
const nameIn = (value: unknown, origin: string): string => {
  const name = textIn(value)
  return name === '@' ? origin : name.endsWith('.') ? name : `${name}.`
}

const invalidFormat = (what: string) => new ProviderError('invalid_response', `The zone at DigitalOcean ${what}.`)
