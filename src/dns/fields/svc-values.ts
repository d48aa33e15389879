import { DnsFormatError } from '../format-error'
import { base64Octets, base64Text, octetsJson, octetsOf, quoted, type Octets } from '../octets'
import type { WireReader } from '../wire-reader'
import type { WireWriter } from '../wire-writer'
import { ipv4, ipv6 } from './addresses'
import { textIn, type FieldKind } from './field'
import { u16 } from './numbers'

/** Format of an SVCB parameter: its value in JSON, text (after unquoting and unescaping) and wire format. */
interface SvcValue<T = unknown> {
  /** @param octets null if text has only the key */
  parse(octets: Uint8Array | null): T
  /** The text after `=`; null if there is only the key. */
  print(value: T): string | null
  /** Reads a value. */
  read(reader: WireReader): T
  write(writer: WireWriter, value: T): void
  check(value: unknown): T
}

/** Keys and the formats of their values (RFC 9460 section 14.3.2 and the documents listed there). */
const SVC_KEYS: readonly string[] = [
  'mandatory',
  'alpn',
  'no-default-alpn',
  'port',
  'ipv4hint',
  'ech',
  'ipv6hint',
  'dohpath',
  'ohttp',
  'tls-supported-groups',
]

/** @throws DnsFormatError for an invalid key; known keys may also be given by number */
export function svcKeyNumber(key: string): number {
  const known = SVC_KEYS.indexOf(key)
  if (known >= 0) return known
  const number = /^key(0|[1-9]\d{0,4})$/.test(key) ? Number(key.slice(3)) : Number.NaN
  if (!(number < 65535)) throw new DnsFormatError(`has an unknown key "${key.slice(0, 64)}"`, null, 'RFC 9460 2.1')
  return number
}

export const svcKeyName = (number: number): string => SVC_KEYS[number] ?? `key${number}`

export const svcValueOf = (number: number): SvcValue => VALUES[number] ?? anything

/** A list of fields, each of the same size in wire format. */
function listOf<T extends string | number>(kind: FieldKind<T>, what: string, read: (text: string) => unknown): SvcValue<T[]> {
  const checked = (values: unknown[]) => {
    if (values.length === 0) throw new DnsFormatError(`must contain one or more ${what}`)
    return values.map(value => kind.check(value, null))
  }
  return {
    parse: octets => checked(latin1(requireValue(octets)).split(',').map(read)),
    print: values => values.join(','),
    read(reader) {
      const values: T[] = []
      while (reader.left > 0) values.push(kind.read(reader))
      return checked(values)
    },
    write: (writer, values) => values.forEach(value => kind.write(writer, value)),
    check: value => checked(listIn(value)),
  }
}

const number = (text: string) => (/^\d{1,5}$/.test(text) ? Number(text) : null)

const port: SvcValue<number> = {
  parse: octets => u16.check(number(latin1(requireValue(octets))), null),
  print: String,
  read: u16.read,
  write: u16.write,
  check: value => u16.check(value, null),
}

const keyNumbers: FieldKind<string> = {
  parse: words => words.next().text,
  print: value => value,
  read: reader => svcKeyName(reader.u16()),
  write: (writer, value) => writer.u16(svcKeyNumber(value)),
  check: value => svcKeyName(svcKeyNumber(textIn(value))),
}
const keyList = listOf(keyNumbers, 'keys', text => text)

/** Sorted in wire format, without `mandatory` itself and without duplicates (RFC 9460 section 8). */
const mandatory: SvcValue<string[]> = {
  ...keyList,
  parse: octets => ordered(keyList.parse(octets)),
  read(reader) {
    const keys = keyList.read(reader)
    if (ordered(keys).some((key, at) => key !== keys[at]))
      throw new DnsFormatError('must have its keys in ascending order', null, 'RFC 9460 8')
    return keys
  },
  check: value => ordered(keyList.check(value)),
}

function ordered(keys: string[]): string[] {
  if (keys.includes('mandatory')) throw new DnsFormatError('must not list itself', null, 'RFC 9460 8')
  if (new Set(keys).size < keys.length) throw new DnsFormatError('must list each key once', null, 'RFC 9460 8')
  return keys.toSorted((a, b) => svcKeyNumber(a) - svcKeyNumber(b))
}

/** Protocol ids of 1 to 255 octets. In text, a comma within one is escaped (RFC 9460 appendix A.1). */
const alpn: SvcValue<Octets[]> = {
  parse: octets => protocols(commaSplit(requireValue(octets)).map(octetsJson)),
  print: values =>
    spelled(
      Buffer.from(
        values.map(value => latin1(octetsOf(value)).replace(/[\\,]/g, character => `\\${character}`)).join(','),
        'latin1',
      ),
    ),
  read(reader) {
    const values: Octets[] = []
    while (reader.left > 0) values.push(octetsJson(reader.take(reader.u8())))
    return protocols(values)
  },
  write(writer, values) {
    for (const octets of values.map(octetsOf)) {
      writer.u8(octets.length)
      writer.octets(octets)
    }
  },
  check: value => protocols(listIn(value).map(one => octetsJson(octetsOf(one)))),
}

function protocols(values: Octets[]): Octets[] {
  const sizes = values.map(value => octetsOf(value).length)
  if (sizes.length === 0 || sizes.some(size => size === 0 || size > 255)) {
    throw new DnsFormatError('must contain one or more protocol IDs of 1 to 255 octets', null, 'RFC 9460 7.1.1')
  }
  return values
}

/** A key without a value; `true` in JSON. */
const flag: SvcValue<true> = {
  parse(octets) {
    if (octets !== null) throw new DnsFormatError('must not have a value')
    return true
  },
  print: () => null,
  read(reader) {
    if (reader.left > 0) throw new DnsFormatError('must not have a value')
    return true
  },
  write: () => {},
  check(value) {
    if (value !== true) throw new DnsFormatError('must be true; omit the key otherwise')
    return true
  },
}

const ech: SvcValue<string> = {
  parse: octets => filled(base64Octets(latin1(requireValue(octets)))),
  print: value => value,
  read: reader => filled(reader.rest()),
  write: (writer, value) => writer.octets(base64Octets(value)),
  check: value => filled(base64Octets(textIn(value))),
}

function filled(octets: Uint8Array): string {
  if (octets.length === 0) throw new DnsFormatError('must not be empty')
  return base64Text(octets)
}

/** A relative URI template in UTF-8 with the variable `dns` (RFC 9461 section 5). */
const dohpath: SvcValue<string> = {
  parse: octets => template(octetsJson(requireValue(octets))),
  print: value => spelled(Buffer.from(value)),
  read: reader => template(octetsJson(reader.rest())),
  write: (writer, value) => writer.octets(octetsOf(value)),
  check: value => template(octetsJson(octetsOf(value))),
}

function template(value: Octets): string {
  if (typeof value !== 'string' || !value.startsWith('/') || !/\{[^}]*\bdns\b[^}]*\}/.test(value)) {
    throw new DnsFormatError('must be a path with the variable dns, such as /dns-query{?dns}', null, 'RFC 9461 5')
  }
  return value
}

const anything: SvcValue<Octets> = {
  parse: octets => octetsJson(octets ?? new Uint8Array()),
  print: value => (value === '' ? null : spelled(octetsOf(value))),
  read: reader => octetsJson(reader.rest()),
  write: (writer, value) => writer.octets(octetsOf(value)),
  check: value => octetsJson(octetsOf(value)),
}

const VALUES: readonly (SvcValue<any> | undefined)[] = [
  mandatory,
  alpn,
  flag,
  port,
  listOf(ipv4, 'IPv4 addresses', text => text),
  ech,
  listOf(ipv6, 'IPv6 addresses', text => text),
  dohpath,
  flag,
  listOf(u16, 'group numbers', number),
]

function requireValue(octets: Uint8Array | null): Uint8Array {
  if (octets === null || octets.length === 0) throw new DnsFormatError('must have a value', null, 'RFC 9460 7')
  return octets
}

function listIn(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new DnsFormatError('must be a list')
  return value
}

const latin1 = (octets: Uint8Array) => Buffer.from(octets).toString('latin1')

/** Quotes a word only if needed. */
function spelled(octets: Uint8Array): string {
  const text = quoted(octets)
  return /^"[\w./{}?!,+*:=-]+"$/.test(text) ? text.slice(1, -1) : text
}

function commaSplit(octets: Uint8Array): Uint8Array[] {
  const items: Uint8Array[] = []
  let item: number[] = []
  for (let at = 0; at < octets.length; at++) {
    const octet = octets[at]!
    if (octet === 0x5c) {
      const next = octets[++at]
      if (next !== 0x2c && next !== 0x5c)
        throw new DnsFormatError('must escape only commas and backslashes', null, 'RFC 9460 A.1')
      item.push(next)
    } else if (octet === 0x2c) {
      items.push(Uint8Array.from(item))
      item = []
    } else item.push(octet)
  }
  return [...items, Uint8Array.from(item)]
}
