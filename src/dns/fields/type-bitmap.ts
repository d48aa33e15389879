import { DnsFormatError } from '../format-error'
import { typeCode, typeName } from '../type-codes'
import { textIn, type FieldKind } from './field'

/** Types at a name, as bitmap windows (RFC 4034 section 4.1.2); in text and JSON, mnemonics in the order of their codes. */
export const typeBitmap: FieldKind<string[]> = {
  parse(words) {
    const types: string[] = []
    while (words.left > 0) types.push(words.next().text)
    return inOrder(types)
  },
  print: types => types.join(' '),
  read(reader) {
    const types: string[] = []
    let last = -1
    while (reader.left > 0) {
      const window = reader.u8()
      const bits = reader.take(reader.u8())
      // Only one encoding is valid: windows ascend, none is empty or ends with a zero octet.
      if (window <= last || bits.length === 0 || bits.length > 32 || bits.at(-1) === 0) {
        throw new DnsFormatError('must have its windows in ascending order and minimal length')
      }
      last = window
      for (const [at, octet] of bits.entries()) {
        for (let bit = 0; bit < 8; bit++) if (octet & (0x80 >> bit)) types.push(typeName(window * 256 + at * 8 + bit))
      }
    }
    return types
  },
  write(writer, types) {
    const windows = Map.groupBy(types.map(typeCode), code => code >> 8)
    for (const [window, codes] of windows) {
      const bits = new Uint8Array(((codes.at(-1)! & 0xff) >> 3) + 1)
      for (const code of codes) bits[(code & 0xff) >> 3]! |= 0x80 >> (code & 7)
      writer.u8(window)
      writer.u8(bits.length)
      writer.octets(bits)
    }
  },
  check(value) {
    if (!Array.isArray(value)) throw new DnsFormatError('must be a list of record types')
    return inOrder(value.map(textIn))
  },
}

const inOrder = (types: string[]): string[] => [...new Set(types.map(typeCode))].sort((a, b) => a - b).map(typeName)
