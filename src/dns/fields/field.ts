import { DnsFormatError } from '../format-error'
import type { WireReader } from '../wire-reader'
import type { WireWriter } from '../wire-writer'
import type { Words } from '../words'

/**
 * A kind of field, with its format in zone files, wire format and JSON. The value is JSON. All methods except `print` and `write` throw
 * DnsFormatError without the field name, which the record type adds.
 */
export interface FieldKind<T = unknown> {
  /** Its JSON type, if it is a plain value. */
  readonly form?: 'integer' | 'text'
  parse(words: Words): T
  print(value: T): string
  /** Reads from rdata. */
  read(reader: WireReader): T
  write(writer: WireWriter, value: T): void
  /**
   * Normalizes untyped JSON.
   * @param origin for relative names; null if names must be absolute
   */
  check(value: unknown, origin: string | null): T
}

/** Adds a check of the value, for text and JSON input. */
export function ruled<T>(kind: FieldKind<T>, rule: (value: T) => void): FieldKind<T> {
  const passed = (value: T) => {
    rule(value)
    return value
  }
  return {
    ...kind,
    parse: words => passed(kind.parse(words)),
    check: (value, origin) => passed(kind.check(value, origin)),
  }
}

export function textIn(value: unknown): string {
  if (typeof value !== 'string') throw new DnsFormatError('must be a string')
  return value
}
