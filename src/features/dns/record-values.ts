import { sha256Hex } from '../../core/crypto'
import { DnsFormatError } from '../../core/dns/format-error'
import { labelsOf, lowerName } from '../../core/dns/name'
import { octetsJson } from '../../core/dns/octets'
import { fieldsOf, rdataOfContent, rdataOfFields, textOf, txtValue } from '../../core/dns/rdata'
import { canonicalRdata } from '../../core/dns/rdata-names'
import { recordTypeOf } from '../../core/dns/types'

/** A value of a record in all forms that are kept of it. */
export interface RecordValue {
  rdata: Uint8Array
  /** Of the canonical rdata: values with the same are equal. */
  hash: string
  content: string
  contentKey: string
  target: string | null
}

/** Characters of a value that filters look at. */
export const contentKeyLength = 255

// Not kept as records: the SOA is made of the members of the zone, the rest by whoever signs it.
const madeElsewhere: Record<string, string> = {
  SOA: 'is not a record here: its fields are members of the zone, under `soa`',
  RRSIG: 'is made by signing the zone',
  NSEC: 'is made by signing the zone',
  NSEC3: 'is made by signing the zone',
  NSEC3PARAM: 'is made by signing the zone',
}

/** The mnemonic of a type that records may have. @throws DnsFormatError */
export function typeOf(text: string): string {
  const { name, reference } = recordTypeOf(text)
  if (madeElsewhere[name]) throw new DnsFormatError(`${name} ${madeElsewhere[name]}`, null, reference)
  return name
}

/** True for types that no record has: the SOA, and what signing makes. */
export const isMadeElsewhere = (type: string): boolean => type in madeElsewhere

/** True for types that signing makes: imports leave them out. */
export const isMadeBySigning = (type: string): boolean => type !== 'SOA' && isMadeElsewhere(type)

/**
 * A value as people give it: as text, or as fields. Names in it that end in a dot are absolute; of the others those of one label
 * are below the zone, like `www` and `@`, and those of several are absolute too, like `mail.example.net`.
 * @param type as of {@link typeOf}
 * @throws DnsFormatError whose field is that of the type, if `fields` broke the rule
 */
export function valueOf(type: string, given: { content?: string; fields?: unknown }, origin: string): RecordValue {
  const read = (from: string) =>
    given.content !== undefined ? rdataOfContent(type, given.content, from) : rdataOfFields(type, given.fields, from)
  return valueOfRdata(type, named.has(type) ? withNames(type, read, origin) : read(origin))
}

export function valueOfRdata(type: string, rdata: Uint8Array): RecordValue {
  const content = textOf(type, rdata)
  return {
    rdata,
    hash: sha256Hex(canonicalRdata(type, rdata)),
    content,
    contentKey: contentKeyOf(isText(type) ? rawText(content) : content),
    target: targetOf(type, rdata),
  }
}

/** What filters by content compare. */
export const contentKeyOf = (text: string): string => text.toLowerCase().slice(0, contentKeyLength)

/** The text of a TXT record with its strings joined; null for other types, and for what is no UTF-8. */
export function joinedText(type: string, rdata: Uint8Array): string | null {
  if (!isText(type)) return null
  const value = octetsJson(txtValue(rdata))
  return typeof value === 'string' ? value : null
}

const isText = (type: string): boolean => type === 'TXT' || type === 'SPF'

/** The strings of a TXT value without quotes and without the borders between them. */
const rawText = (content: string): string =>
  content.startsWith('"')
    ? content
        .slice(1, -1)
        .replaceAll('" "', '')
        .replaceAll(/\\(["\\])/g, '$1')
    : content

// Types with names in their values.
const named = new Set(['CNAME', 'ALIAS', 'DNAME', 'NS', 'PTR', 'MX', 'SRV', 'AFSDB', 'RP', 'NAPTR', 'SVCB', 'HTTPS'])

function withNames(type: string, read: (origin: string) => Uint8Array, origin: string): Uint8Array {
  const below = attempt(() => read(origin))
  const absolute = attempt(() => read('.'))
  if ('error' in below) {
    // Only what is too long below the zone is right without it.
    if ('error' in absolute) throw below.error
    return absolute.rdata
  }
  if ('error' in absolute || Buffer.compare(below.rdata, absolute.rdata) === 0) return below.rdata
  const fields = fieldsOf(type, below.rdata)
  for (const [field, value] of Object.entries(fieldsOf(type, absolute.rdata))) {
    if (typeof value === 'string' && fields[field] !== value && labelsOf(value).length > 1) fields[field] = value
  }
  return rdataOfFields(type, fields, null)
}

function attempt(read: () => Uint8Array): { rdata: Uint8Array } | { error: DnsFormatError } {
  try {
    return { rdata: read() }
  } catch (error) {
    if (error instanceof DnsFormatError) return { error }
    throw error
  }
}

const targetFields: Record<string, string> = {
  CNAME: 'target',
  ALIAS: 'target',
  DNAME: 'target',
  NS: 'target',
  MX: 'exchange',
  SRV: 'target',
}

/** The name that a value leads to, absolute and in lower case; null for types without one. */
export function targetOf(type: string, rdata: Uint8Array): string | null {
  const field = targetFields[type]
  if (field === undefined) return null
  try {
    return lowerName(fieldsOf(type, rdata)[field] as string)
  } catch (error) {
    if (error instanceof DnsFormatError) return null
    throw error
  }
}
