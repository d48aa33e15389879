import { DnsFormatError } from '../format-error'
import { base32HexOctets, base32HexText, base64Octets, base64Text, hexOctets, hexText } from '../octets'
import { textIn, type FieldKind } from './field'

const someOctets = (octets: Uint8Array): Uint8Array => {
  if (octets.length === 0) throw new DnsFormatError('must not be empty')
  return octets
}

const toTheEnd = (octetsOf: (text: string) => Uint8Array, textOf: (octets: Uint8Array) => string): FieldKind<string> => ({
  form: 'text',
  parse: words => textOf(someOctets(octetsOf(words.rest()))),
  print: value => value,
  read: reader => textOf(someOctets(reader.rest())),
  write: (writer, value) => writer.octets(octetsOf(value)),
  check: value => textOf(someOctets(octetsOf(textIn(value)))),
})

/** One or more octets up to the end of the rdata, as hexadecimal. */
export const hex = toTheEnd(hexOctets, hexText)

/** One or more octets up to the end of the rdata, as base64. */
export const base64 = toTheEnd(base64Octets, base64Text)

const counted = (
  octetsOf: (text: string) => Uint8Array,
  textOf: (octets: Uint8Array) => string,
  min: number,
): FieldKind<string> => {
  const bounded = (text: string): string => {
    const octets = octetsOf(text)
    if (octets.length < min || octets.length > 255) throw new DnsFormatError(`must be ${min} to 255 octets`)
    return textOf(octets)
  }
  return {
    parse: words => bounded(words.next().text),
    print: value => value,
    read: reader => bounded(textOf(reader.take(reader.u8()))),
    write(writer, value) {
      const octets = octetsOf(value)
      writer.u8(octets.length)
      writer.octets(octets)
    },
    check: value => bounded(textIn(value)),
  }
}

const saltHex = counted(hexOctets, hexText, 0)

/** Octets with a length prefix; empty is `-` in text (RFC 5155 section 3.3). */
export const salt: FieldKind<string> = {
  ...saltHex,
  parse(words) {
    if (words.peek()?.text !== '-') return saltHex.parse(words)
    words.next()
    return ''
  },
  print: value => (value === '' ? '-' : value),
}

/** A hash with a length prefix, as base32hex (RFC 5155 section 3.3). */
export const base32Hex = counted(base32HexOctets, base32HexText, 1)
