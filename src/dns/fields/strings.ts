import { DnsFormatError } from '../format-error'
import { octetsJson, octetsOf, quoted, unescaped, type Octets } from '../octets'
import type { WireReader } from '../wire-reader'
import type { WireWriter } from '../wire-writer'
import type { Words } from '../words'
import { textIn, type FieldKind } from './field'

/** Maximum octets of a character-string (RFC 1035 section 3.3). */
export const STRING_MAX = 255

/** A character-string: up to 255 octets with a length prefix (RFC 1035 section 3.3). */
export const characterString: FieldKind<Octets> = {
  form: 'text',
  parse: words => octetsJson(fitting(unescaped(words.next().text))),
  print: value => quoted(octetsOf(value)),
  read: reader => octetsJson(reader.take(reader.u8())),
  write(writer, value) {
    const octets = octetsOf(value)
    writer.u8(octets.length)
    writer.octets(octets)
  },
  check: value => octetsJson(fitting(octetsOf(value))),
}

/** One or more character-strings up to the end of the rdata (RFC 1035 section 3.3.14). */
export const characterStrings: FieldKind<Octets[]> = {
  parse: words =>
    oneOrMore(
      () => characterString.parse(words),
      () => words.left > 0,
    ),
  print: values => values.map(characterString.print).join(' '),
  read: reader =>
    oneOrMore(
      () => characterString.read(reader),
      () => reader.left > 0,
    ),
  write: (writer, values) => values.forEach(value => characterString.write(writer, value)),
  check(value, origin) {
    if (!Array.isArray(value) || value.length === 0) throw new DnsFormatError('must be a non-empty list of strings')
    if (value.length > 0xffff) throw new DnsFormatError('must be at most 65535 octets in total')
    return value.map(one => characterString.check(one, origin))
  },
}

/** Octets up to the end of the rdata, as a quoted string without the 255 octet limit. */
export const longString: FieldKind<Octets> = {
  form: 'text',
  parse: words => octetsJson(unescaped(words.next().text)),
  print: value => quoted(octetsOf(value)),
  read: reader => octetsJson(reader.rest()),
  write: (writer, value) => writer.octets(octetsOf(value)),
  check: value => octetsJson(octetsOf(value)),
}

/** Letters and digits with a length prefix: the tag of a CAA record (RFC 8659 section 4.1). */
export const tag: FieldKind<string> = {
  form: 'text',
  parse: (words: Words) => alphanumeric(words.next().text),
  print: value => value,
  read: (reader: WireReader) => alphanumeric(String.fromCharCode(...reader.take(reader.u8()))),
  write(writer: WireWriter, value) {
    writer.u8(value.length)
    writer.octets(Buffer.from(value, 'latin1'))
  },
  check: value => alphanumeric(textIn(value)),
}

function fitting(octets: Uint8Array): Uint8Array {
  if (octets.length > STRING_MAX) {
    throw new DnsFormatError(
      `must consist of strings of at most ${STRING_MAX} octets, but one has ${octets.length}`,
      null,
      'RFC 1035 3.3',
    )
  }
  return octets
}

function oneOrMore<T>(read: () => T, more: () => boolean): T[] {
  const found = [read()]
  while (more()) found.push(read())
  return found
}

function alphanumeric(text: string): string {
  if (!/^[a-z0-9]{1,255}$/i.test(text)) throw new DnsFormatError('must be 1 to 255 ASCII letters and digits')
  return text
}
