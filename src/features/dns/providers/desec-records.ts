import { oneLine } from '../../../core/one-line'
import { catchFormatError } from '../../../dns/format-error'
import { yieldToEventLoop } from '../../../core/time-slices'
import { lowerName, parseName } from '../../../dns/name'
import { rdataOfText, textOf } from '../../../dns/rdata'
import { TTL_MAX } from '../../../dns/ttl'
import { recordTypes } from '../../../dns/types'
import { withinZone, rrsetKey } from '../zones/names'
import { ProviderError, type Op, type ProviderRrset, type Snapshot, type UnsupportedRrset } from './provider'

/**
 * Types that can be managed at deSEC (desec.readthedocs.io, Record Types). Of DNSKEY, CDS and CDNSKEY, only additional records: those of
 * deSEC are neither listed nor changed.
 */
const desecTypes: ReadonlySet<string> = new Set([
  ...['A', 'AAAA', 'AFSDB', 'CAA', 'CDNSKEY', 'CDS', 'CERT', 'CNAME', 'CSYNC', 'DHCID', 'DNAME', 'DNSKEY', 'DS', 'HINFO'],
  ...['HTTPS', 'LOC', 'MX', 'NAPTR', 'NS', 'OPENPGPKEY', 'PTR', 'RP', 'SMIMEA', 'SPF', 'SRV', 'SSHFP', 'SVCB', 'TLSA', 'TXT'],
  'URI',
])

export const unsupportedTypes: ReadonlySet<string> = new Set(
  recordTypes.map(({ name }) => name).filter(name => !desecTypes.has(name)),
)

/** An rrset in a request. */
interface DesecChange {
  subname: string
  type: string
  ttl?: number
  /** Empty to delete it. */
  records: string[]
}

/** Converts a step to an entry of a bulk request. */
export function changeOf({ name, type, after }: Op): DesecChange {
  const subname = subnameOf(name)
  // The TTL of an existing rrset may be lower than what is allowed now.
  if (!after) return { subname, type, records: [] }
  return { subname, type, ttl: after.ttl, records: after.values.map(value => textOf(type, value)) }
}

/** The apex has an empty name at deSEC. */
export const subnameOf = (name: string): string => (name === '@' ? '' : name)

/** What a zone contains. */
export type Content = Required<Pick<Snapshot, 'rrsets' | 'foreign'>>

/**
 * Parses rrsets. deSEC validates them, so a type or value that is unknown here is valid, and is only listed. Yields to
 * other work.
 * @throws ProviderError `incomplete`, `invalid_response`
 */
export async function rrsetsOfRows(rows: readonly Record<string, unknown>[], zoneName: string): Promise<Content> {
  const found: Content = { rrsets: [], foreign: [] }
  const keys = new Set<string>()
  for (const [place, { subname, type, ttl, records }] of rows.entries()) {
    if (place % yieldEvery === yieldEvery - 1) await yieldToEventLoop()
    if (typeof subname !== 'string' || typeof type !== 'string' || !isTtl(ttl) || !isTexts(records))
      throw invalidFormat('has a record set without a name, type, TTL, or records')
    const name = nameIn(subname, zoneName)
    const key = rrsetKey({ name, type })
    if (keys.has(key)) throw new ProviderError('incomplete', `The list of record sets has ${key} twice.`)
    keys.add(key)
    const values = desecTypes.has(type) ? valuesOf(type, records) : null
    if (values) found.rrsets.push({ name, type, ttl, values })
    else found.foreign.push({ name, type, detail: oneLine(records.join(', '), 200) })
  }
  return found
}

/** Finds what deSEC doesn’t support, as far as that is known without asking. */
export function unsupportedAtDesec(rrset: ProviderRrset): UnsupportedRrset[] {
  const { name, type } = rrset
  return rulesFor(rrset).map(detail => ({ name, type, detail }))
}

function rulesFor({ name, type, values }: ProviderRrset): string[] {
  if (!desecTypes.has(type)) return [`deSEC doesn’t support ${type} records.`]
  const broken: string[] = []
  if (!/^(@|\*|(\*\.)?([a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63})$/.test(name))
    broken.push('Apart from wildcards, deSEC supports only letters, digits, hyphens, and underscores in names.')
  if (name.length > maxNameLength) broken.push(`deSEC limits names, without the zone, to ${maxNameLength} characters.`)
  if (name === '@' && (type === 'CNAME' || type === 'DS')) broken.push(`deSEC doesn’t support ${type} records at the apex.`)
  if (name !== '@' && type === 'DNSKEY') broken.push('deSEC supports DNSKEY records only at the apex.')
  const texts = values.map(value => textOf(type, value))
  const target = targets[type]
  if (target && texts.some(text => !target.test(text.split(' ').at(-1)!)))
    broken.push(
      type === 'CNAME'
        ? 'deSEC supports only letters, digits, hyphens, underscores, and “*” in the target of a CNAME record.'
        : `The target of ${type} records at deSEC must be a hostname: letters, digits, and hyphens.`,
    )
  if (name.length + texts.reduce((sum, text) => sum + recordOverhead + text.length, rrsetOverhead) > maxLength)
    broken.push('deSEC limits a record set to 64 KB.')
  return broken
}

// About 10 ms of work.
const yieldEvery = 1000

// RRset field reference: subname.
const maxNameLength = 178
// What deSEC adds to the length of each record, and of a record set with the longest possible zone name, to estimate its size.
const recordOverhead = 12
const rrsetOverhead = 480
const maxLength = 65_535

const hostname = /^(([a-z0-9]([a-z0-9-]*[a-z0-9])?)\.)+$/i
const hostnameOrRoot = new RegExp(`${hostname.source}|^\\.$`, 'i')
const targets: Readonly<Record<string, RegExp>> = {
  // Looked up by types of records.
  __proto__: null!,
  CNAME: /^([a-z0-9_*-]+\.)+$|^\.$/i,
  MX: hostnameOrRoot,
  NS: hostname,
  SRV: hostnameOrRoot,
}

const isTtl = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= TTL_MAX

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every(one => typeof one === 'string')

function nameIn(subname: string, zoneName: string): string {
  if (subname === '') return '@'
  const name = catchFormatError(
    () => withinZone(lowerName(parseName(subname, `${zoneName}.`)), zoneName),
    () => null,
  )
  if (name === null) throw invalidFormat(`has ${subname}, which is not a name within the zone`)
  return name
}

/** Null if one of them is invalid. */
const valuesOf = (type: string, records: readonly string[]): Uint8Array[] | null =>
  catchFormatError(
    () => records.map(text => rdataOfText(type, text, null)),
    () => null,
  )

const invalidFormat = (what: string) => new ProviderError('invalid_response', `The zone at deSEC ${what}.`)
