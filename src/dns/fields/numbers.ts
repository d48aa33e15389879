import { DnsFormatError } from '../format-error'
import type { WireReader } from '../wire-reader'
import type { WireWriter } from '../wire-writer'
import { parseSpan } from '../ttl'
import type { FieldKind } from './field'

const unsigned = (
  bits: 8 | 16 | 32,
  read: (reader: WireReader) => number,
  write: (writer: WireWriter, value: number) => void,
) => {
  const max = 2 ** bits - 1
  const bounded = (value: unknown): number => {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > max) {
      throw new DnsFormatError(`must be between 0 and ${max}`)
    }
    return value
  }
  const kind: FieldKind<number> = {
    form: 'integer',
    parse(words) {
      const word = words.next()
      return bounded(/^\d{1,10}$/.test(word.text) ? Number(word.text) : null)
    },
    print: String,
    read,
    write,
    check: bounded,
  }
  return kind
}

export const u8 = unsigned(
  8,
  reader => reader.u8(),
  (writer, value) => writer.u8(value),
)
export const u16 = unsigned(
  16,
  reader => reader.u16(),
  (writer, value) => writer.u16(value),
)
export const u32 = unsigned(
  32,
  reader => reader.u32(),
  (writer, value) => writer.u32(value),
)

/** 32-bit seconds, which may have units in text: `1h30m`. Written as a plain number. */
export const span: FieldKind<number> = { ...u32, parse: words => parseSpan(words.next().text, 0xffffffff) }

/** A number that may be a keyword in text; JSON and our text use the number. */
export function mnemonic(kind: FieldKind<number>, words: Record<string, number>): FieldKind<number> {
  return {
    ...kind,
    parse(text) {
      const number = words[text.peek()?.text.toUpperCase() ?? '']
      if (number === undefined) return kind.parse(text)
      text.next()
      return number
    },
  }
}

/**
 * Seconds since 1970 in 32 bits, in text as `YYYYMMDDHHmmSS` in UTC or as the number (RFC 4034 section 3.2). The number wraps around
 * (RFC 1982): we write the years 1970 to 2106, BIND those nearest to now, and both are parsed.
 */
export const moment: FieldKind<number> = {
  ...u32,
  parse(words) {
    const [, year, month, day, hour, minute, second] =
      /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(words.peek()?.text ?? '') ?? []
    if (year === undefined) return u32.parse(words)
    const text = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`
    const at = Date.parse(text)
    if (Number.isNaN(at) || new Date(at).toISOString() !== text) {
      throw new DnsFormatError('must be a time in the form YYYYMMDDHHmmSS', null, 'RFC 4034 3.2')
    }
    words.next()
    return (((at / 1000) % CIRCLE) + CIRCLE) % CIRCLE
  },
  print: value =>
    new Date(value * 1000)
      .toISOString()
      .replace(/\.000Z$/, '')
      .replace(/\D/g, ''),
}

const CIRCLE = 2 ** 32
