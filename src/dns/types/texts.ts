import { longString, characterString, characterStrings, tag } from '../fields/strings'
import { ruled } from '../fields/field'
import { u16, u8 } from '../fields/numbers'
import { domain } from '../fields/names'
import { DnsFormatError } from '../format-error'
import { octetsOf, type Octets } from '../octets'
import { broken, recordType, type FieldsRule, type RecordType } from './record-type'

const NAPTR = 'RFC 3403 4.1'
const CAA = 'RFC 8659 4.1'

const naptrRule: FieldsRule = ({ regexp, replacement }) => {
  if (regexp !== '' && replacement !== '.') throw broken('replacement', 'must be "." if regexp is not empty', NAPTR)
}

/**
 * Validates `!expression!replacement!flags` with any delimiter (RFC 3402 section 3.2): exactly three unescaped delimiters, `i` as the
 * only flag, and no reference to a group that doesn't exist.
 */
function isSubstitution(value: Octets): boolean {
  const text = Buffer.from(octetsOf(value)).toString('latin1')
  const delimiter = text[0]!
  if (/[\d\\i\0]/.test(delimiter)) return false
  const parts = ['']
  for (let at = 1; at < text.length; at++) {
    if (text[at] === delimiter) parts.push('')
    else if (text[at] === '\\') parts[parts.length - 1] += text[at]! + (text[++at] ?? '')
    else parts[parts.length - 1] += text[at]!
  }
  const [expression = '', replacement = '', flags, ...others] = parts
  if (flags === undefined || others.length > 0 || !/^i*$/.test(flags)) return false
  const groups = expression.replace(/\\[^]/g, '').split('(').length - 1
  return [...replacement.matchAll(/\\([^])/g)].every(([, reference]) => !/[1-9]/.test(reference!) || Number(reference) <= groups)
}

/** Issuer domain, or none, then parameters: `ca.example; account=123` (RFC 8659 section 4.2). */
const ISSUE =
  /^[ \t]*(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*)?[ \t]*(?:;[ \t]*(?:[a-z0-9-]+[ \t]*=[ \t]*[\x21-\x3a\x3c-\x7e]*[ \t]*(?:;[ \t]*|$))*)?$/i

const caaRule: FieldsRule = ({ flags, tag, value }: { flags: number; tag: string; value: Octets }) => {
  if (flags !== 0 && flags !== 128) throw broken('flags', 'must be 0, or 128 for a critical property', CAA)
  const name = tag.toLowerCase()
  if (/^issue(wild|mail|vmc)?$/.test(name) && !(typeof value === 'string' && ISSUE.test(value))) {
    throw broken('value', 'must be the domain of an issuer and its parameters, or ";" for none', 'RFC 8659 4.2')
  }
  if (name === 'iodef' && !(typeof value === 'string' && /^(mailto|https?):\S+$/i.test(value))) {
    throw broken('value', 'must be a mailto:, http: or https: URL', 'RFC 8659 4.4')
  }
}

/** Types that contain text. */
export const textTypes: RecordType[] = [
  recordType('TXT', 'RFC 1035 3.3.14', { strings: characterStrings }),
  recordType('SPF', 'RFC 7208 3.1', { strings: characterStrings }),
  recordType('HINFO', 'RFC 1035 3.3.2', { cpu: characterString, os: characterString }),
  recordType('CAA', CAA, { flags: u8, tag, value: longString }, caaRule),
  recordType(
    'NAPTR',
    NAPTR,
    {
      order: u16,
      preference: u16,
      flags: ruled(characterString, value => {
        if (typeof value !== 'string' || !/^[a-z0-9]*$/i.test(value))
          throw new DnsFormatError('must contain only letters and digits')
      }),
      service: characterString,
      regexp: ruled(characterString, value => {
        if (value !== '' && !isSubstitution(value)) {
          throw new DnsFormatError('must be empty or like "!expression!replacement!"', null, 'RFC 3402 3.2')
        }
      }),
      replacement: domain,
    },
    naptrRule,
  ),
  recordType('URI', 'RFC 7553 4.5', {
    priority: u16,
    weight: u16,
    target: ruled(longString, value => {
      if (octetsOf(value).length === 0) throw new DnsFormatError('must not be empty', null, 'RFC 7553 4.4')
    }),
  }),
]
