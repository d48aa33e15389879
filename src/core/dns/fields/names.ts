import { ipv4Octets, ipv6Octets } from '../address-octets'
import { DnsFormatError } from '../format-error'
import { parseName } from '../name'
import { ruled, textIn, type FieldKind } from './field'

/** A name that may be compressed where it is read. How it is written in messages, `rdata-names.ts` knows. */
export const domain: FieldKind<string> = {
  form: 'text',
  parse(words) {
    const word = words.next()
    if (word.quoted) throw new DnsFormatError('must be a name without quotes')
    return parseName(word.text, words.origin)
  },
  print: name => name,
  read: reader => reader.name(false),
  write: (writer, name) => writer.name(name),
  check: (value, origin) => parseName(textIn(value), origin),
}

/** The name of a machine, for which people like to write its address. */
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

/** A name that must not be the root. */
export const properName: FieldKind<string> = ruled(domain, name => {
  if (name === '.') throw new DnsFormatError('must not be the root')
})

function refuseAddress(text: string): void {
  const bare = text.replace(/\.$/, '')
  if (/^[\d.]+$|:/.test(bare) && (isAddress(ipv4Octets, bare) || isAddress(ipv6Octets, bare)))
    throw new DnsFormatError('must be a host name, not an address')
}

function isAddress(octetsOf: (text: string) => Uint8Array, text: string): boolean {
  try {
    octetsOf(text)
    return true
  } catch {
    return false
  }
}
