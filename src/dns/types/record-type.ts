import { DnsFormatError } from '../format-error'
import type { FieldKind } from '../fields/field'
import { isObject } from '../octets'
import type { WireReader } from '../wire-reader'
import type { WireWriter } from '../wire-writer'
import type { Words } from '../words'

/** Rdata of a record as JSON: its fields by name. */
export type Fields = Record<string, unknown>

/** A record type. All methods except `print` and `write` throw DnsFormatError with field, rule and section. */
export interface RecordType {
  readonly name: string
  /** Document and section that defines it. */
  readonly reference: string
  /** Names of its fields, in order. */
  readonly fields: readonly string[]
  /** JSON types of the fields, if they are all plain values. */
  readonly forms?: Readonly<Record<string, FieldKind['form']>>
  parse(words: Words): Fields
  print(fields: Fields): string
  read(reader: WireReader): Fields
  write(writer: WireWriter, fields: Fields): void
  check(value: unknown, origin: string | null): Fields
}

/** A rule about several fields of an entered value. Throws DnsFormatError. */
export type FieldsRule = (fields: any) => void

/** Builds a type from a sequence of fields. */
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
      const input = objectIn(name, value)
      refuseOthers(name, input, Object.keys(kinds))
      return ruled(each((field, kind) => kind.check(memberOf(input, field), origin)))
    },
  }
}

/** @throws DnsFormatError unless it is an object */
export function objectIn(type: string, value: unknown): Record<string, unknown> {
  if (!isObject(value)) throw new DnsFormatError(`The fields of ${type} must be an object`)
  return value
}

/** @throws DnsFormatError if a field is missing */
export function memberOf(value: Record<string, unknown>, field: string): unknown {
  if (value[field] === undefined) throw new DnsFormatError('is missing')
  return value[field]
}

/** @throws DnsFormatError for unknown fields */
export function refuseOthers(type: string, value: Record<string, unknown>, fields: readonly string[]): void {
  const other = Object.keys(value).find(field => !fields.includes(field))
  if (other !== undefined)
    throw new DnsFormatError(`is not a field of ${type} (fields: ${fields.join(', ')})`, other.slice(0, 64))
}

/** Creates an error for a rule, with field and section. */
export function broken(field: string, rule: string, reference: string): DnsFormatError {
  return new DnsFormatError(rule, field, reference)
}
