import { STRING_MAX } from '../../../core/dns/fields/strings'
import { DnsFormatError } from '../../../core/dns/format-error'
import { lowerName, parseName } from '../../../core/dns/name'
import { isObject, octetsOf, unescaped } from '../../../core/dns/octets'
import { fieldsOf, rdataOfFields, rdataOfText, rdataOfTxt, textOf } from '../../../core/dns/rdata'
import { TTL_MAX } from '../../../core/dns/ttl'
import { recordTypes } from '../../../core/dns/types'
import { linesOf } from '../../../core/dns/words'
import { withinZone } from '../zone-names'
import { proxiableTypes, ProviderError, type ProviderRrset } from './provider'
import { stepKey } from './same-rrset'

/** A record at Cloudflare, which has them one by one, each with an id and a TTL. */
export interface CloudflareRecord {
  id: string
  /** Below the zone, `@` for the apex. */
  name: string
  /** As the core has it: a CNAME at the apex, which Cloudflare flattens, is an ALIAS. */
  type: string
  /** Seconds; 1 is a TTL that Cloudflare chooses. */
  ttl: number
  rdata: Uint8Array
  /** Null for types that cannot be. */
  proxied: boolean | null
}

/** The members of a record of the API that are its value. */
export type RecordMembers = { content?: string; data?: Record<string, unknown>; priority?: number }

/** Types that the API has (developers.cloudflare.com/api, DNS records), and ALIAS for the CNAME at the apex. */
export const cloudflareTypes: ReadonlySet<string> = new Set([
  ...['A', 'AAAA', 'ALIAS', 'CAA', 'CERT', 'CNAME', 'DNSKEY', 'DS', 'HTTPS', 'LOC', 'MX', 'NAPTR', 'NS', 'OPENPGPKEY', 'PTR'],
  ...['SMIMEA', 'SRV', 'SSHFP', 'SVCB', 'TLSA', 'TXT', 'URI'],
])

export const unsupportedTypes: ReadonlySet<string> = new Set(
  recordTypes.map(({ name }) => name).filter(name => !cloudflareTypes.has(name)),
)

/** The type of the API for one of the core. */
export const apiType = (type: string): string => (type === 'ALIAS' ? 'CNAME' : type)

/**
 * Reads rows of the list of records, without what is not of the zone's content: SOA and NS at the apex, which are Cloudflare's own
 * (its NS are not listed, and others are not served unless another provider has the zone too: Cloudflare, Nameserver options).
 * @throws ProviderError `invalid_answer`
 */
export function recordsOfRows(rows: readonly Record<string, unknown>[], zoneName: string): CloudflareRecord[] {
  return rows.flatMap(row => {
    const { id, type, ttl, proxied } = row
    if (typeof id !== 'string' || typeof row.name !== 'string' || typeof type !== 'string' || !isTtl(ttl))
      throw wrongForm('has a record without id, name, type or TTL')
    const name = nameOf(row.name, zoneName)
    if (type === 'SOA' || (type === 'NS' && name === '@')) return []
    const kept = type === 'CNAME' && name === '@' ? 'ALIAS' : type
    const rdata = reading(`${row.name} ${type}`, () => rdataOfMembers(type, row))
    return [{ id, name, type: kept, ttl, rdata, proxied: proxiableTypes.has(kept) ? proxied === true : null }]
  })
}

/**
 * Records by name and type. Where their TTLs differ, the lowest is that of all (RFC 2181 5.2); where one is proxied, Cloudflare
 * treats all as proxied (Cloudflare, Proxy status).
 */
export function rrsetsOfRecords(records: readonly CloudflareRecord[]): Map<string, ProviderRrset> {
  const found = new Map<string, ProviderRrset>()
  for (const [key, same] of Map.groupBy(records, stepKey)) {
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

/** The value of a record as the API takes it. Names are whole, without the dot at their end. */
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
 * Strings in quotation marks, which are cut when they are too long. What is not of that form is from before quotation marks were
 * asked for, and is the text itself.
 */
function rdataOfStrings(content: string): Uint8Array {
  if (!content.startsWith('"')) return rdataOfTxt(octetsOf(content))
  try {
    const [line, ...others] = linesOf(content)
    if (!line || others.length > 0 || !line.words.every(word => word.quoted)) return rdataOfTxt(octetsOf(content))
    const strings = line.words.map(word => unescaped(word.text))
    if (strings.some(one => one.length > STRING_MAX)) return rdataOfTxt(Buffer.concat(strings))
  } catch (error) {
    if (error instanceof DnsFormatError) return rdataOfTxt(octetsOf(content))
    throw error
  }
  return rdataOfText('TXT', content, root)
}

// Names without a dot at their end are whole.
const root = '.'

const isTtl = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= TTL_MAX

/** How the value of a type is told where it is more than its `content`. */
interface Shape {
  read(row: Record<string, unknown>): Uint8Array
  write(fields: Record<string, unknown>, rdata: Uint8Array): RecordMembers
}

/** A type whose fields are members of `data`; where a member has another name, it stands after a colon. */
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

/** SVCB and HTTPS: their parameters are one text. */
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
  // Types that the API tells are looked up here.
  __proto__: null!,
  MX: {
    read: ({ priority, content }) => rdataOfText('MX', `${String(priority)} ${String(content)}`, root),
    write: ({ preference, exchange }) => ({ priority: preference as number, content: withoutDot(exchange) as string }),
  },
  // Its priority is beside `data`, and may come in it.
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

/** Numbers of records that were made long ago may be texts. */
const numberOf = (value: unknown): unknown => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value)

const withoutDot = (name: unknown): unknown => (typeof name === 'string' && name !== root ? name.replace(/\.$/, '') : name)

const objectOf = (value: unknown): Record<string, unknown> => {
  if (!isObject(value)) throw new DnsFormatError('must have data')
  return value
}

const nameOf = (text: string, zoneName: string): string => {
  const name = reading(text, () => withinZone(lowerName(parseName(`${text}.`, null)), zoneName))
  if (name === null) throw wrongForm(`has ${text}, which is not within the zone`)
  return name
}

function reading<T>(what: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof DnsFormatError) throw wrongForm(`has ${what}, which cannot be read: ${error.message}`)
    throw error
  }
}

const wrongForm = (what: string) => new ProviderError('invalid_answer', `The zone at Cloudflare ${what}.`)
