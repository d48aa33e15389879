import { DnsFormatError } from '../format-error'
import type { WireReader } from '../wire-reader'
import type { WireWriter } from '../wire-writer'
import type { Words } from '../words'

/**
 * One kind of field: how its value is written in a zone file, on the wire and in JSON. The value itself is JSON.
 * All but `print` and `write` throw DnsFormatError, without naming the field: its record type knows that.
 */
export interface FieldKind<T = unknown> {
  /** What its JSON is, where that is one plain value. */
  readonly form?: 'integer' | 'text'
  parse(words: Words): T
  print(value: T): string
  /** Reads from rdata, which ends where the reader ends. */
  read(reader: WireReader): T
  write(writer: WireWriter, value: T): void
  /**
   * The value of untyped JSON, in its one spelling.
   * @param origin what relative names are below, null where names must be absolute
   */
  check(value: unknown, origin: string | null): T
}

/** Runs a check that is about values, not about their spelling, wherever a person wrote the value. */
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
