import { oneLine } from '../../../core/one-line'
import { catchFormatError, DnsFormatError } from '../../../dns/format-error'
import { lowerName, parseName } from '../../../dns/name'
import { isObject } from '../../../dns/octets'
import { rdataOfText, textOf } from '../../../dns/rdata'
import { recordTypes } from '../../../dns/types'
import { isTypeName } from '../../../dns/type-codes'
import { TTL_MAX } from '../../../dns/ttl'
import { absoluteOf, withinZone } from '../zones/names'
import { ProviderError, type ForeignEntry, type ProviderRrset, type UnsupportedRrset } from './provider'

/** Types that the API supports (Route 53, Supported DNS record types). */
export const route53Types: ReadonlySet<string> = new Set([
  ...[
    'A',
    'AAAA',
    'CAA',
    'CNAME',
    'DS',
    'HTTPS',
    'MX',
    'NAPTR',
    'NS',
    'PTR',
    'SOA',
    'SPF',
    'SRV',
    'SSHFP',
    'SVCB',
    'TLSA',
    'TXT',
  ],
])

export const unsupportedTypes: ReadonlySet<string> = new Set(
  // ALIAS is replaced by addresses.
  recordTypes.map(({ name }) => name).filter(name => name !== 'ALIAS' && !route53Types.has(name)),
)

/** A record set in a response, parsed from XML. All texts are strings. */
export type ApiRecordSet = Record<string, unknown>

/** Record sets of a zone. */
interface Route53Records {
  rrsets: ProviderRrset[]
  /** Values as Route 53 formats them, by rrset: a deletion must contain exactly these. */
  texts: Map<ProviderRrset, string[]>
  foreign: ForeignEntry[]
  hasSoa: boolean
}

/** Parses the record sets of a zone. @throws ProviderError `invalid_response` */
export function recordsOfSets(sets: readonly ApiRecordSet[], zoneName: string): Route53Records {
  const records: Route53Records = { rrsets: [], texts: new Map(), foreign: [], hasSoa: false }
  for (const set of sets) {
    const { Name, Type, TTL } = set
    if (typeof Name !== 'string' || typeof Type !== 'string') throw invalidFormat('has a record set without a name or type')
    const name = recordName(Name, zoneName)
    if (Type === 'SOA') {
      records.hasSoa ||= name === '@'
      continue
    }
    const detail = foreignDetail(set)
    if (detail !== null) {
      records.foreign.push({ name, type: Type, detail })
      continue
    }
    const texts = listOf(set.ResourceRecords, 'ResourceRecord').map(one => (isObject(one) ? one.Value : undefined))
    const ttl = Number(TTL)
    if (!Number.isInteger(ttl) || ttl < 0 || ttl > TTL_MAX || texts.length === 0 || !texts.every(one => typeof one === 'string'))
      throw invalidFormat(`has ${Name} ${Type} without a TTL or values`)
    const values = valuesOf(Type, texts)
    if (!values) {
      records.foreign.push({ name, type: Type, detail: oneLine(texts.join(', '), 200) })
      continue
    }
    const rrset = { name, type: Type, ttl, values }
    records.rrsets.push(rrset)
    records.texts.set(rrset, texts)
  }
  return records
}

/** What a record set is if it is more than a name, a type, a TTL, and values; null otherwise. */
function foreignDetail(set: ApiRecordSet): string | null {
  const { Type, AliasTarget, SetIdentifier, TrafficPolicyInstanceId, HealthCheckId } = set
  const parts: string[] = []
  if (typeof TrafficPolicyInstanceId === 'string') parts.push(`Record of the traffic policy instance ${TrafficPolicyInstanceId}`)
  const target = isObject(AliasTarget) ? AliasTarget.DNSName : undefined
  if (AliasTarget !== undefined) parts.push(`Alias${typeof target === 'string' ? ` to ${target.replace(/\.$/, '')}` : ''}`)
  if (typeof SetIdentifier === 'string') parts.push(`${routingPolicy(set)} record “${SetIdentifier}”`)
  if (typeof HealthCheckId === 'string') parts.push(`health check ${HealthCheckId}`)
  if (parts.length === 0 && !isTypeName(String(Type))) parts.push('Record of a type that only Route 53 has')
  return parts.length === 0 ? null : oneLine(parts.join(', '), 200)
}

const policies: readonly (readonly [member: string, title: string])[] = [
  ['Weight', 'Weighted'],
  ['Region', 'Latency'],
  ['Failover', 'Failover'],
  ['GeoLocation', 'Geolocation'],
  ['GeoProximityLocation', 'Geoproximity'],
  ['CidrRoutingConfig', 'IP-based routing'],
  ['MultiValueAnswer', 'Multivalue answer'],
]
const routingPolicy = (set: ApiRecordSet): string =>
  policies.find(([member]) => set[member] !== undefined)?.[1] ?? 'Routing policy'

/** Converts a name: absolute, and everything but letters, digits, hyphens, underscores, and dots in octal escapes. */
export const apiName = (name: string, zoneName: string): string =>
  absoluteOf(name, zoneName).replaceAll(/\\(\d{3})|\\([^])|[^a-z0-9_.-]/gi, (other, decimal?: string, escaped?: string) =>
    octal(decimal === undefined ? (escaped ?? other).charCodeAt(0) : Number(decimal)),
  )

/** Converts a name of the API to a record name. @throws ProviderError `invalid_response` */
export function recordName(text: string, zoneName: string): string {
  const name = catchFormatError(
    () => withinZone(absoluteName(text), zoneName),
    error => {
      throw invalidFormat(`has ${text}, which is invalid: ${error.message}`)
    },
  )
  if (name === null) throw invalidFormat(`has ${text}, which is not within the zone`)
  return name
}

/** Converts a name of the API to an absolute name. @throws DnsFormatError */
export const absoluteName = (text: string): string => lowerName(parseName(decimalEscapes(text), '.'))

/** Formats a value. Escapes are octal, unlike in zone files. */
export const apiValue = (type: string, value: Uint8Array): string =>
  textOf(type, value).replaceAll(/\\(\d{3})|\\[^]/g, (escape, decimal?: string) =>
    decimal === undefined ? escape : octal(Number(decimal)),
  )

/** Null if one of them is not valid here. */
const valuesOf = (type: string, texts: readonly string[]): Uint8Array[] | null =>
  catchFormatError(
    () => texts.map(text => rdataOfText(type, decimalEscapes(text), '.')),
    () => null,
  )

function decimalEscapes(text: string): string {
  return text.replaceAll(/\\(\d{3})|\\[^]/g, (escape, digits?: string) => {
    if (digits === undefined) return escape
    const octet = /^[0-3][0-7]{2}$/.test(digits) ? parseInt(digits, 8) : NaN
    if (Number.isNaN(octet)) throw new DnsFormatError(`has the escape ${escape}, which is not octal`)
    return `\\${String(octet).padStart(3, '0')}`
  })
}

const octal = (octet: number): string => `\\${octet.toString(8).padStart(3, '0')}`

/** Finds what Route 53 doesn't support, as far as that is known without asking. */
export function unsupportedAtRoute53({ name, type, values }: ProviderRrset): UnsupportedRrset[] {
  const details = !route53Types.has(type)
    ? [`Route 53 doesn’t support ${type} records.`]
    : values.some(value => apiValue(type, value).length > maxValueLength)
      ? [`Route 53 limits values to ${maxValueLength.toLocaleString('en-US')} characters.`]
      : []
  return details.map(detail => ({ name, type, detail }))
}

// Route 53, Quotas on records: value of a TXT record.
const maxValueLength = 4000

/** The elements of a list; an empty one has no elements in XML. */
export const listOf = (list: unknown, element: string): unknown[] => {
  const items = isObject(list) ? list[element] : []
  return Array.isArray(items) ? items : []
}

const invalidFormat = (what: string) => new ProviderError('invalid_response', `The zone at Route 53 ${what}.`)
