import { ipv4Octets, ipv4Text, ipv6Octets, ipv6Text } from '../address-octets'
import { textIn, type FieldKind } from './field'

const address = (
  size: number,
  octets: (text: string) => Uint8Array,
  text: (octets: Uint8Array) => string,
): FieldKind<string> => ({
  form: 'text',
  parse: words => text(octets(words.next().text)),
  print: value => value,
  read: reader => text(reader.take(size)),
  write: (writer, value) => writer.octets(octets(value)),
  check: value => text(octets(textIn(value))),
})

export const ipv4 = address(4, ipv4Octets, ipv4Text)
export const ipv6 = address(16, ipv6Octets, ipv6Text)
