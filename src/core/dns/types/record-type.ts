import { DnsFormatError } from '../format-error'
import type { FieldKind } from '../fields/field'
import { isObject } from '../octets'
import type { WireReader } from '../wire-reader'
import type { WireWriter } from '../wire-writer'
import type { Words } from '../words'

/** The rdata of one record as JSON: its fields by the names of its type. */
export type Fields = Record<string, unknown>

/** What is known of a record type. All but `print` and `write` throw DnsFormatError that names field, rule and section. */
export interface RecordType {
  readonly name: string
  /** The document and section that defines it. */
  readonly reference: string
  /** The names of its fields in their order. */
  readonly fields: readonly string[]
  /** What each is in JSON, where all that is told of the type is its fields one by one. */
  readonly forms?: Readonly<Record<string, FieldKind['form']>>
  parse(words: Words): Fields
  print(fields: Fields): string
  read(reader: WireReader): Fields
  write(writer: WireWriter, fields: Fields): void
  check(value: unknown, origin: string | null): Fields
}

/** A rule about several fields of a value that a person wrote. Throws DnsFormatError. */
export type FieldsRule = (fields: any) => void

/** A type whose fields follow one another, in text as on the wire. */
export function recordType(
  name: string,
  reference: string,
  kinds: Record<string, FieldKind<any>>,
  rule: FieldsRule = () => {},
): RecordType {
  const fields = Object.entries(kinds)
  const each = (read: (field: string, kind: FieldKind<any>) => unknown): Fields => {
    const found: Fields = {}
    for (const [field, kind] of fields) {
      try {
        found[field] = read(field, kind)
      } catch (error) {
        throw error instanceof DnsFormatError ? error.within(field, reference) : error
      }
    }
    return found
  }
  const ruled = (value: Fields): Fields => {
    rule(value)
    return value
  }
  return {
    name,
    reference,
    fields: Object.keys(kinds),
    forms: Object.fromEntries(fields.map(([field, kind]) => [field, kind.form])),
    parse: words => ruled(each((_, kind) => kind.parse(words))),
    print: value =>
      fields
        .map(([field, kind]) => kind.print(value[field]))
        .filter(text => text !== '')
        .join(' '),
    read: reader => each((_, kind) => kind.read(reader)),
    write(writer, value) {
      for (const [field, kind] of fields) kind.write(writer, value[field])
    },
    check(value, origin) {
      const given = objectIn(name, value)
      refuseOthers(name, given, Object.keys(kinds))
      return ruled(each((field, kind) => kind.check(memberOf(given, field), origin)))
    },
  }
}

/** @throws DnsFormatError unless it is an object */
export function objectIn(type: string, value: unknown): Record<string, unknown> {
  if (!isObject(value)) throw new DnsFormatError(`The fields of ${type} must be an object`)
  return value
}

/** @throws DnsFormatError when a member is missing */
export function memberOf(value: Record<string, unknown>, field: string): unknown {
  if (value[field] === undefined) throw new DnsFormatError('is missing')
  return value[field]
}

/** @throws DnsFormatError for a member that is no field of the type */
export function refuseOthers(type: string, value: Record<string, unknown>, fields: readonly string[]): void {
  const other = Object.keys(value).find(field => !fields.includes(field))
  if (other !== undefined)
    throw new DnsFormatError(`is not a field of ${type}, which has ${fields.join(', ')}`, other.slice(0, 64))
}

/** For rules: names the field and the section of what is broken. */
export function broken(field: string, rule: string, reference: string): DnsFormatError {
  return new DnsFormatError(rule, field, reference)
}
