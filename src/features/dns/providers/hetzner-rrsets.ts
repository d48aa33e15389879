import { oneLine } from '../../../core/one-line'
import { catchFormatError } from '../../../dns/format-error'
import { isObject } from '../../../dns/octets'
import { rdataOfText, textOf } from '../../../dns/rdata'
import { ttlReceived } from '../../../dns/ttl'
import { isTypeName } from '../../../dns/type-codes'
import { recordTypes } from '../../../dns/types'
import { originOf, rrsetKey } from '../zones/names'
import { ProviderError, type ForeignEntry, type ProviderRrset, type UnsupportedRrset } from './provider'
import { rechunked, valueKey } from './same-rrset'

/** An rrset at Hetzner. */
export interface HetznerRrset extends ProviderRrset {
  /** Comments of its records, by {@link valueKey}. */
  comments: Map<string, string>
  /** Whether changes are rejected until a person removes the protection. */
  isProtected: boolean
}

/** Types that the API supports (docs.hetzner.cloud/reference/cloud, Zone RRSets). The SOA is managed by Hetzner. */
const supportedTypes: ReadonlySet<string> = new Set('A AAAA CAA CNAME DS HINFO HTTPS MX NS PTR RP SRV SVCB TLSA TXT'.split(' '))

export const unsupportedTypes: ReadonlySet<string> = new Set(
  recordTypes.map(({ name }) => name).filter(name => !supportedTypes.has(name)),
)

export const hetznerTtl = { min: 60, max: 0x7fffffff }

/**
 * Parses rows of the rrset list, without the SOA and what this version doesn't know.
 * @param defaultTtl TTL of the zone, for rrsets without their own
 * @throws ProviderError `invalid_response`
 */
export function rrsetsOfRows(rows: readonly Record<string, unknown>[], zoneName: string, defaultTtl: number): HetznerRrset[] {
  return rows.flatMap(row => {
    const { name, type, ttl, records, protection } = row
    if (typeof name !== 'string' || typeof type !== 'string' || !Array.isArray(records) || records.length === 0)
      throw invalidFormat('has a record set without a name, type, or records')
    if (ttl !== null && !Number.isSafeInteger(ttl)) throw invalidFormat(`has ${name} ${type} without a valid TTL`)
    if (type === 'SOA' || !isTypeName(type)) return []
    const rrset: HetznerRrset = {
      name,
      type,
      ttl: ttlReceived((ttl as number | null) ?? defaultTtl),
      values: [],
      comments: new Map(),
      isProtected: isObject(protection) && protection.change === true,
    }
    for (const record of records) {
      const { value, comment } = isObject(record) ? record : {}
      if (typeof value !== 'string') throw invalidFormat(`has ${name} ${type} without a value`)
      const rdata = rdataOf(type, value, zoneName)
      if (!rdata) return []
      rrset.values.push(rdata)
      if (typeof comment === 'string' && comment !== '') rrset.comments.set(commentKey(type, rdata), comment)
    }
    return [rrset]
  })
}

/** Rrsets with a type or value that this version doesn't know. @param parsed the others, from the same rows */
export function foreignOfRows(rows: readonly Record<string, unknown>[], parsed: readonly HetznerRrset[]): ForeignEntry[] {
  const known = new Set(parsed.map(rrsetKey))
  return rows.flatMap(row => {
    const [name, type] = [String(row.name), String(row.type)]
    if (type === 'SOA' || known.has(rrsetKey({ name, type }))) return []
    const values = (row.records as unknown[]).map(one => (isObject(one) && typeof one.value === 'string' ? one.value : ''))
    return [{ name, type, detail: oneLine(`Hetzner record: ${values.join(', ')}`, 200) }]
  })
}

/** Records of an API request. Values that stay keep their comments. */
export const recordsOf = ({ type, values }: ProviderRrset, there?: HetznerRrset): { value: string; comment?: string }[] =>
  values.map(rdata => {
    const comment = there?.comments.get(commentKey(type, rdata))
    return { value: textOf(type, rdata), ...(comment !== undefined && { comment }) }
  })

/** Finds what Hetzner doesn't support, as far as that is known without asking. */
export function unsupportedAtHetzner({ name, type, ttl }: ProviderRrset): UnsupportedRrset[] {
  const broken: string[] = []
  if (!supportedTypes.has(type)) broken.push(`Hetzner doesn’t support ${type} records.`)
  if (!/^(?:@|[a-z0-9_*.-]+)$/.test(name))
    broken.push('Hetzner supports only letters, digits, hyphens, and underscores in names.')
  if (ttl < hetznerTtl.min || ttl > hetznerTtl.max)
    broken.push(`The TTL must be between ${hetznerTtl.min} and ${hetznerTtl.max} seconds at Hetzner.`)
  return broken.map(detail => ({ name, type, detail }))
}

/** How TXT strings are split has no meaning. */
const commentKey = (type: string, rdata: Uint8Array): string => valueKey(type, rechunked(type, rdata))

/** Names in values can be relative to the zone. Null if the value is not valid here. */
const rdataOf = (type: string, value: string, zoneName: string): Uint8Array | null =>
  catchFormatError(
    () => rdataOfText(type, value, originOf(zoneName)),
    () => null,
  )

const invalidFormat = (what: string) => new ProviderError('invalid_response', `The zone at Hetzner ${what}.`)
