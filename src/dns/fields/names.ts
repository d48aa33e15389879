import { ipv4Octets, ipv6Octets } from '../address-octets'
import { DnsFormatError } from '../format-error'
import { parseName } from '../name'
import { ruled, textIn, type FieldKind } from './field'

/** A name, which may be compressed when read. `rdata-names.ts` decides how it is written. */
export const domain: FieldKind<string> = {
  form: 'text',
  parse(words) {
    const word = words.next()
    if (word.quoted) throw new DnsFormatError('must not be in quotes')
    return parseName(word.text, words.origin)
  },
  print: name => name,
  read: reader => reader.name(false),
  write: (writer, name) => writer.name(name),
  check: (value, origin) => parseName(textIn(value), origin),
}

/** A hostname. Rejects addresses, a common mistake. */
export const host: FieldKind<string> = {
  ...domain,
  parse(words) {
    refuseAddress(words.peek()?.text ?? '')
    return domain.parse(words)
  },
  check(value, origin) {
    refuseAddress(textIn(value))
    return domain.check(value, origin)
  },
}

/** A name other than the root. */
export const properName: FieldKind<string> = ruled(domain, name => {
  if (name === '.') throw new DnsFormatError('must not be the root')
})

function refuseAddress(text: string): void {
  const bare = text.replace(/\.$/, '')
  if (/^[\d.]+$|:/.test(bare) && (isAddress(ipv4Octets, bare) || isAddress(ipv6Octets, bare)))
    throw new DnsFormatError('must be a hostname, not an address')
}

function isAddress(octetsOf: (text: string) => Uint8Array, text: string): boolean {
  try {
    octetsOf(text)
    return true
  } catch {
    return false
  }
}
