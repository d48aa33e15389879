import { oneLine } from '../../../core/one-line'
import { STRING_MAX } from '../../../dns/fields/strings'
import { catchFormatError, DnsFormatError } from '../../../dns/format-error'
import { lowerName, parseName } from '../../../dns/name'
import { isObject, octetsOf, unescaped } from '../../../dns/octets'
import { fieldsOf, rdataOfFields, rdataOfText, rdataOfTxt, textOf } from '../../../dns/rdata'
import { TTL_MAX } from '../../../dns/ttl'
import { isTypeName } from '../../../dns/type-codes'
import { recordTypes } from '../../../dns/types'
import { linesOf } from '../../../dns/words'
import { withinZone, rrsetKey } from '../zones/names'
import { proxiableTypes, ProviderError, type ForeignEntry, type ProviderRrset } from './provider'

/** A record at Cloudflare, which stores single records with ids and TTLs. */
export interface CloudflareRecord {
  id: string
  /** Name within the zone, `@` for the apex. */
  name: string
  /** Type in Bailiwick: a CNAME at the apex, which Cloudflare flattens, is an ALIAS. */
  type: string
  /** Seconds; 1 is the automatic TTL. */
  ttl: number
  rdata: Uint8Array
  /** Null for types that can't be proxied. */
  proxied: boolean | null
}

/** Fields of an API record that contain its value. */
export type RecordMembers = { content?: string; data?: Record<string, unknown>; priority?: number }

/** Types that the API supports (developers.cloudflare.com/api, DNS records), plus ALIAS for a CNAME at the apex. */
export const cloudflareTypes: ReadonlySet<string> = new Set([
  ...['A', 'AAAA', 'ALIAS', 'CAA', 'CERT', 'CNAME', 'DNSKEY', 'DS', 'HTTPS', 'LOC', 'MX', 'NAPTR', 'NS', 'OPENPGPKEY', 'PTR'],
  ...['SMIMEA', 'SRV', 'SSHFP', 'SVCB', 'TLSA', 'TXT', 'URI'],
])

export const unsupportedTypes: ReadonlySet<string> = new Set(
  recordTypes.map(({ name }) => name).filter(name => !cloudflareTypes.has(name)),
)

/** Converts a type to the one of the API. */
export const apiType = (type: string): string => (type === 'ALIAS' ? 'CNAME' : type)

/**
 * Parses rows of the record list. Skips SOA and NS at the apex, which Cloudflare manages: its NS are not listed, and others are served
 * only with an additional provider (Cloudflare, Nameserver options).
 * @throws ProviderError `invalid_response`
 */
export function recordsOfRows(rows: readonly Record<string, unknown>[], zoneName: string): CloudflareRecord[] {
  return rows.flatMap(row => {
    const { id, type, ttl, proxied } = row
    if (typeof id !== 'string' || typeof row.name !== 'string' || typeof type !== 'string' || !isTtl(ttl))
      throw invalidFormat('has a record without an id, name, type, or TTL')
    const name = nameOf(row.name, zoneName)
    if (type === 'SOA' || (type === 'NS' && name === '@') || !isTypeName(type)) return []
    const ownType = type === 'CNAME' && name === '@' ? 'ALIAS' : type
    const rdata = reading(`${row.name} ${type}`, () => rdataOfMembers(type, row))
    return [{ id, name, type: ownType, ttl, rdata, proxied: proxiableTypes.has(ownType) ? proxied === true : null }]
  })
}

/** Records of types that only Cloudflare has. */
export const foreignOfRows = (rows: readonly Record<string, unknown>[], zoneName: string): ForeignEntry[] =>
  rows
    .filter(({ type }) => !isTypeName(String(type)))
    .map(({ name, type, content }) => ({
      name: nameOf(String(name), zoneName),
      type: String(type),
      detail: oneLine(`Cloudflare record${typeof content === 'string' ? `: ${content}` : ''}`, 200),
    }))

/**
 * Groups records into rrsets. If their TTLs differ, uses the lowest (RFC 2181 section 5.2); if one is proxied, Cloudflare treats all
 * of them as proxied (Cloudflare, Proxy status).
 */
export function rrsetsOfRecords(records: readonly CloudflareRecord[]): Map<string, ProviderRrset> {
  const found = new Map<string, ProviderRrset>()
  for (const [key, same] of Map.groupBy(records, rrsetKey)) {
    const { name, type } = same[0]!
    const rrset: ProviderRrset = {
      name,
      type,
      ttl: Math.min(...same.map(one => one.ttl)),
      values: same.map(one => one.rdata),
    }
    if (proxiableTypes.has(type)) rrset.options = { proxied: same.some(one => one.proxied === true) }
    found.set(key, rrset)
  }
  return found
}

/** Converts a value to API fields. Names are absolute, without the trailing dot. */
export function membersOf(type: string, rdata: Uint8Array): RecordMembers {
  const shape = shapes[type]
  if (type === 'TXT') return { content: textOf(type, rdata) }
  if (!shape) return { content: withoutDot(textOf(type, rdata)) as string }
  return shape.write(fieldsOf(type, rdata), rdata)
}

function rdataOfMembers(type: string, row: Record<string, unknown>): Uint8Array {
  const shape = shapes[type]
  if (shape) return shape.read(row)
  const { content } = row
  if (typeof content !== 'string') throw new DnsFormatError('must have content')
  return type === 'TXT' || type === 'SPF' ? rdataOfStrings(content) : rdataOfText(type, content, root)
}

/**
 * Parses TXT content: quoted strings, split if they are too long. Other content predates the quoting requirement, and is the text
 * itself.
 */
function rdataOfStrings(content: string): Uint8Array {
  const strings = content.startsWith('"')
    ? catchFormatError(
        () => quotedStrings(content),
        () => null,
      )
    : null
  if (!strings) return rdataOfTxt(octetsOf(content))
  return strings.some(one => one.length > STRING_MAX) ? rdataOfTxt(Buffer.concat(strings)) : rdataOfText('TXT', content, root)
}

/** Null unless it is one line of quoted strings. */
function quotedStrings(content: string): Uint8Array[] | null {
  const [line, ...others] = linesOf(content)
  const isQuoted = line && others.length === 0 && line.words.every(word => word.quoted)
  return isQuoted ? line.words.map(word => unescaped(word.text)) : null
}

// Names without a trailing dot are absolute.
const root = '.'

const isTtl = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= TTL_MAX

/** Conversion of a type whose value is not just `content`. */
interface Shape {
  read(row: Record<string, unknown>): Uint8Array
  write(fields: Record<string, unknown>, rdata: Uint8Array): RecordMembers
}

/** A type with its fields in `data`. A field with a different name in the API is written as `field:name`. */
function structured(type: string, kinds: { numbers?: string; texts?: string; names?: string }): Shape {
  const listed = (kind: keyof typeof kinds) =>
    (kinds[kind]?.split(' ') ?? []).map(one => {
      const [field, member = field] = one.split(':') as [string, string?]
      return { kind, field, member }
    })
  const members = [...listed('numbers'), ...listed('texts'), ...listed('names')]
  return {
    read(row) {
      const data = objectOf(row.data)
      const fields = members.map(({ kind, field, member }) => [field, kind === 'numbers' ? numberOf(data[member]) : data[member]])
      return rdataOfFields(type, Object.fromEntries(fields), root)
    },
    write(fields) {
      const data = members.map(({ kind, field, member }) => [
        member,
        kind === 'names' ? withoutDot(fields[field]) : fields[field],
      ])
      return { data: Object.fromEntries(data) }
    },
  }
}

/** SVCB and HTTPS: the parameters are one string. */
const serviceBinding = (type: string): Shape => ({
  read(row) {
    const { priority, target, value } = objectOf(row.data)
    return rdataOfText(type, `${String(priority)} ${String(target)} ${typeof value === 'string' ? value : ''}`, root)
  },
  write({ svc_priority, target_name }, rdata) {
    const value = textOf(type, rdata).split(' ').slice(2).join(' ')
    return { data: { priority: svc_priority, target: withoutDot(target_name), value } }
  },
})

const angle = (axis: string) => ['degrees', 'minutes', 'seconds'].map(part => `${axis}_${part}`).join(' ')
const certificate = { numbers: 'usage selector matching_type', texts: 'certificate_data:certificate' }

const shapes: Readonly<Record<string, Shape>> = {
  // Looked up by types from the API.
  __proto__: null!,
  MX: {
    read: ({ priority, content }) => rdataOfText('MX', `${String(priority)} ${String(content)}`, root),
    write: ({ preference, exchange }) => ({ priority: preference as number, content: withoutDot(exchange) as string }),
  },
  // `priority` is outside `data`, but may also be inside.
  URI: {
    read(row) {
      const { priority, weight, target } = objectOf(row.data)
      return rdataOfFields('URI', { priority: row.priority ?? priority, weight, target }, root)
    },
    write: ({ priority, weight, target }) => ({ priority: priority as number, data: { weight, target } }),
  },
  CAA: structured('CAA', { numbers: 'flags', texts: 'tag value' }),
  CERT: structured('CERT', { numbers: 'cert_type:type key_tag algorithm', texts: 'certificate' }),
  DNSKEY: structured('DNSKEY', { numbers: 'flags protocol algorithm', texts: 'public_key' }),
  DS: structured('DS', { numbers: 'key_tag algorithm digest_type', texts: 'digest' }),
  LOC: structured('LOC', {
    numbers: `${angle('lat')} ${angle('long')} altitude size precision_horz precision_vert`,
    texts: 'lat_direction long_direction',
  }),
  NAPTR: structured('NAPTR', { numbers: 'order preference', texts: 'flags service regexp:regex', names: 'replacement' }),
  SMIMEA: structured('SMIMEA', certificate),
  SRV: structured('SRV', { numbers: 'priority weight port', names: 'target' }),
  SSHFP: structured('SSHFP', { numbers: 'algorithm fingerprint_type:type', texts: 'fingerprint' }),
  TLSA: structured('TLSA', certificate),
  HTTPS: serviceBinding('HTTPS'),
  SVCB: serviceBinding('SVCB'),
}

/** Old records may have numbers as strings. */
const numberOf = (value: unknown): unknown => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value)

const withoutDot = (name: unknown): unknown => (typeof name === 'string' && name !== root ? name.replace(/\.$/, '') : name)

const objectOf = (value: unknown): Record<string, unknown> => {
  if (!isObject(value)) throw new DnsFormatError('must have data')
  return value
}

const nameOf = (text: string, zoneName: string): string => {
  const name = reading(text, () => withinZone(lowerName(parseName(`${text}.`, null)), zoneName))
  if (name === null) throw invalidFormat(`has ${text}, which is not within the zone`)
  return name
}

const reading = <T>(what: string, read: () => T): T =>
  catchFormatError(read, error => {
    throw invalidFormat(`has ${what}, which is invalid: ${error.message}`)
  })

const invalidFormat = (what: string) => new ProviderError('invalid_response', `The zone at Cloudflare ${what}.`)
