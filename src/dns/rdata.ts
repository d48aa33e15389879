import { STRING_MAX } from './fields/strings'
import { catchFormatError, DnsFormatError } from './format-error'
import { hexOctets, octetsOf } from './octets'
import { isMetaType, typeCode } from './type-codes'
import { genericText, recordTypeOf } from './types'
import type { Fields, RecordType } from './types/record-type'
import { WireReader } from './wire-reader'
import { WireWriter } from './wire-writer'
import { linesOf, Words } from './words'

// A record value has three forms: rdata (wire format with uncompressed names), text (as in a zone file) and fields (JSON). Rdata is
// stored and compared; the other forms are converted from and to it.

const RDATA_MAX = 0xffff

/**
 * Parses a value in zone file syntax, for any type also in the generic format of RFC 3597.
 * @param origin for relative names; null if names must be absolute
 * @throws DnsFormatError
 */
export function rdataOfText(type: string, text: string, origin: string | null): Uint8Array {
  const [line, ...others] = linesOf(text)
  if (others.length > 0)
    throw new DnsFormatError(`The value of ${type} must be on one line, or in parentheses`, null, 'RFC 1035 5.1')
  return rdataOfWords(type, new Words(line?.words ?? [], origin))
}

/**
 * Parses a value as entered by people. Like {@link rdataOfText}, but TXT and SPF that don't start with `"` are one raw value without
 * special characters, split into strings of 255 octets, and `;` never starts a comment.
 * @throws DnsFormatError
 */
export function rdataOfContent(type: string, content: string, origin: string | null): Uint8Array {
  const { name } = recordTypeOf(type)
  if ((name === 'TXT' || name === 'SPF') && !/^\s*"|^\\#\s/.test(content)) return rdataOfTxt(octetsOf(content))
  refuseComment(content)
  return rdataOfText(type, content, origin)
}

/** Parses the words of a line, which must all belong to the value. @throws DnsFormatError */
export function rdataOfWords(type: string, words: Words): Uint8Array {
  const kind = recordTypeOf(type)
  const first = words.peek()
  if (first?.text === '\\#' && !first.quoted) return genericRdata(kind, words)
  const fields = kind.parse(words)
  if (words.left > 0) {
    throw new DnsFormatError(
      `Unexpected "${words.next().text.slice(0, 64)}" after the value of ${kind.name}`,
      null,
      kind.reference,
    )
  }
  return written(kind, fields)
}

/**
 * Converts the fields of a type from untyped JSON.
 * @param origin for relative names; null if names must be absolute
 * @throws DnsFormatError
 */
export function rdataOfFields(type: string, fields: unknown, origin: string | null): Uint8Array {
  const kind = recordTypeOf(type)
  return written(kind, kind.check(fields, origin))
}

/** Converts rdata to fields. @throws DnsFormatError if it is invalid for its type */
export function fieldsOf(type: string, rdata: Uint8Array): Fields {
  return fieldsIn(recordTypeOf(type), rdata)
}

/**
 * Formats rdata in one normalized way: names absolute, strings quoted, in zone file order. Rdata that is invalid for its type, as it can
 * occur in transfers, uses the generic format of RFC 3597.
 */
export function textOf(type: string, rdata: Uint8Array): string {
  if (isMetaType(typeCode(type))) return genericText(rdata)
  const kind = recordTypeOf(type)
  return catchFormatError(
    () => kind.print(fieldsIn(kind, rdata)),
    () => genericText(rdata),
  )
}

/** Joins the strings of a TXT or SPF record, whose boundaries have no meaning. @throws DnsFormatError */
export function txtValue(rdata: Uint8Array): Uint8Array {
  const reader = new WireReader(rdata)
  const parts: Uint8Array[] = []
  while (reader.left > 0) parts.push(reader.take(reader.u8()))
  return Buffer.concat(parts)
}

/** Builds TXT or SPF rdata: strings of 255 octets, and one with the rest. @throws DnsFormatError */
export function rdataOfTxt(value: Uint8Array): Uint8Array {
  const writer = new WireWriter(value.length + 1)
  for (let at = 0; at === 0 || at < value.length; at += STRING_MAX) {
    const part = value.subarray(at, at + STRING_MAX)
    writer.u8(part.length)
    writer.octets(part)
  }
  return fitting(writer.finish())
}

function fieldsIn(kind: RecordType, rdata: Uint8Array): Fields {
  const reader = new WireReader(rdata)
  const fields = kind.read(reader)
  if (reader.left > 0)
    throw new DnsFormatError(`The value of ${kind.name} has extra octets after its last field`, null, kind.reference)
  return fields
}

function written(kind: RecordType, fields: Fields): Uint8Array {
  const writer = new WireWriter()
  kind.write(writer, fields)
  return fitting(writer.finish())
}

function fitting(rdata: Uint8Array): Uint8Array {
  if (rdata.length > RDATA_MAX) throw new DnsFormatError(`A value must be at most ${RDATA_MAX} octets`, null, 'RFC 1035 3.2.1')
  return rdata
}

/** Parses `\# length hexadecimal`, which must be valid for its type if that is known (RFC 3597 section 5). */
function genericRdata(kind: RecordType, words: Words): Uint8Array {
  words.next()
  const length = words.left > 0 ? words.next().text : ''
  let rdata: Uint8Array
  try {
    rdata = hexOctets(words.left > 0 ? words.rest() : '')
  } catch {
    throw notGeneric()
  }
  if (length !== String(rdata.length) || rdata.length > RDATA_MAX) throw notGeneric()
  fieldsIn(kind, rdata)
  return rdata
}

const notGeneric = () =>
  new DnsFormatError('A generic value must be \\#, the number of octets, and the octets in hexadecimal', null, 'RFC 3597 5')

function refuseComment(content: string): void {
  const outside = content.replace(/"(?:[^"\\]|\\[^])*"|\\[^]/g, '')
  if (outside.includes(';')) {
    throw new DnsFormatError(
      'A value must contain ";" only in quotes or as \\;, since it starts a comment in zone files',
      null,
      'RFC 1035 5.1',
    )
  }
}
