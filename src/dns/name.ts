import { domainToASCII } from 'node:url'
import { DnsFormatError } from './format-error'
import { escapeAt, numericEscape } from './octets'

// Names are strings: absolute, ending with a dot, in their original case, with one normalized spelling for every octet (NAME_TEXT).
// So names that differ only in case are strings that differ only in case, and a parent name is a suffix of the string.

/** Maximum octets of a label, and of a name including length octets and the root (RFC 1035 section 2.3.4). */
export const LABEL_MAX = 63
export const NAME_MAX = 255

/**
 * Parses a name in presentation format (RFC 1035 section 5.1) to its normalized absolute form. `@` is the origin, and a name without a
 * trailing dot is relative to it. Non-ASCII labels become A-labels (IDNA 2008 with UTS 46, non-transitional).
 * @param origin an absolute name, or null if names must be absolute
 * @throws DnsFormatError
 */
export function parseName(text: string, origin: string | null): string {
  if (text === '@' && origin !== null) return origin
  if (text === '.') return text
  if (text === '') throw new DnsFormatError('must not be empty; the root is "."', null, 'RFC 1035 5.1')
  const spelled = PLAIN.test(text) ? text : respelled(text)
  const absolute = endsInDot(spelled) ? spelled : below(spelled, origin)
  checkLengths(absolute)
  return absolute
}

/** Labels from left to right, as strings whose characters are octets (0 to 255). The root has none. */
export function labelsOf(name: string): string[] {
  if (name === '.') return []
  if (!name.includes('\\')) return name.slice(0, -1).split('.')
  const labels: string[] = []
  let label = ''
  for (let at = 0; at < name.length;) {
    if (name[at] === '\\') {
      const [octet, next] = escapeAt(name, at)
      label += String.fromCharCode(octet)
      at = next
    } else if (name[at] === '.') {
      labels.push(label)
      label = ''
      at++
    } else label += name[at++]
  }
  return labels
}

/** Builds a name from such labels; `[]` is the root. Limits are not checked. */
export function nameOf(labels: readonly string[]): string {
  if (labels.length === 0) return '.'
  let name = ''
  for (const label of labels) {
    for (let at = 0; at < label.length; at++) name += NAME_TEXT[label.charCodeAt(at)]!
    name += '.'
  }
  return name
}

/** Converts a name to lower case; only ASCII letters have case in DNS (RFC 4343), and names contain nothing else. */
export const lowerName = (name: string): string => name.toLowerCase()

export const sameName = (a: string, b: string): boolean => a === b || lowerName(a) === lowerName(b)

/** True for the ancestor itself and all names below it. */
export function isWithin(name: string, ancestor: string): boolean {
  if (ancestor === '.') return true
  if (name.length === ancestor.length) return sameName(name, ancestor)
  const cut = name.length - ancestor.length
  return cut > 0 && isCut(name, cut) && sameName(name.slice(cut), ancestor)
}

/** Parent name; null for the root. */
export function parentName(name: string): string | null {
  if (name === '.') return null
  for (let at = name.indexOf('.'); at >= 0; at = name.indexOf('.', at + 1)) {
    if (isCut(name, at + 1)) return at + 1 === name.length ? '.' : name.slice(at + 1)
  }
  return null
}

/** Formats a name for a zone file: `@` for the origin, relative if below it, absolute otherwise. */
export function relativeName(name: string, origin: string): string {
  if (sameName(name, origin)) return '@'
  if (origin === '.' || !isWithin(name, origin)) return name
  return name.slice(0, name.length - origin.length - 1)
}

/**
 * Sort key of a name in canonical order (RFC 4034 section 6.1): label by label from the right, in lower case, octets as unsigned
 * numbers, with an absent label first.
 */
export function canonicalKey(name: string): string {
  const key = labelsOf(lowerName(name)).toReversed()
  // The separator is the smallest character, so octets 0 and 1 are written as two characters.
  const spelled = name.includes('\\00') ? key.map(label => label.replaceAll('\x01', '\x01\x01').replaceAll('\0', '\x01\0')) : key
  return spelled.join('\0')
}

/** Compares two names in canonical order (RFC 4034 section 6.1). */
export function compareNames(a: string, b: string): number {
  const [left, right] = [canonicalKey(a), canonicalKey(b)]
  return left < right ? -1 : left > right ? 1 : 0
}

/** Octets of a name in wire format, without compression. */
export function wireLength(name: string): number {
  if (name === '.') return 1
  if (!name.includes('\\')) return name.length + 1
  return labelsOf(name).reduce((sum, label) => sum + label.length + 1, 1)
}

/** Converts non-ASCII labels to A-labels. @throws DnsFormatError for invalid labels */
export function toAscii(text: string): string {
  // UTS 46 also treats these three as dots.
  return text
    .split(/[.\u3002\uff0e\uff61]/)
    .map(label => {
      if (!NOT_ASCII.test(label)) return label
      // Characters that a URL would treat as the end of the host.
      const ascii = /[\\%/?#@:\s[\]]/.test(label) ? '' : domainToASCII(label)
      if (!/^[a-z0-9_*-]+$/.test(ascii))
        throw new DnsFormatError(`has an invalid internationalized label: "${label}"`, null, 'RFC 5891 4.2')
      return ascii
    })
    .join('.')
}

/** Spelling of each octet in a name. Characters with a special meaning in zone files are escaped. */
export const NAME_TEXT: readonly string[] = Array.from({ length: 256 }, (_, octet) => {
  if (octet < 0x21 || octet > 0x7e) return numericEscape(octet)
  const character = String.fromCharCode(octet)
  return '.\\"();@$'.includes(character) ? `\\${character}` : character
})

const PLAIN = /^(?:[\w*-]+\.)*[\w*-]+\.?$/
// oxlint-disable-next-line no-control-regex -- the question is whether all of it is ASCII
const NOT_ASCII = /[^\x00-\x7f]/

/** Parses escapes, and writes every octet in its normalized spelling. */
function respelled(text: string): string {
  const ascii = NOT_ASCII.test(text) ? toAscii(text) : text
  let name = ''
  let empty = true
  for (let at = 0; at < ascii.length;) {
    if (ascii[at] === '.') {
      if (empty) throw emptyLabel()
      name += '.'
      empty = true
      at++
      continue
    }
    const [octet, next] = ascii[at] === '\\' ? escapeAt(ascii, at) : [ascii.charCodeAt(at), at + 1]
    if (next === at + 1 && (octet <= 0x20 || octet === 0x7f)) {
      throw new DnsFormatError('must escape spaces and control characters as \\DDD', null, 'RFC 1035 5.1')
    }
    name += NAME_TEXT[octet]!
    empty = false
    at = next
  }
  return name
}

const emptyLabel = () => new DnsFormatError('must not have an empty label', null, 'RFC 1035 3.1')

function below(relative: string, origin: string | null): string {
  if (origin === null) throw new DnsFormatError('must be absolute: end it with a dot', null, 'RFC 1035 5.1')
  return origin === '.' ? `${relative}.` : `${relative}.${origin}`
}

/** @throws DnsFormatError if the name or a label is too long */
function checkLengths(name: string): void {
  // A name this short without escapes can't have a label over 63 octets either.
  if (name.length <= LABEL_MAX) return
  if (labelsOf(name).some(label => label.length > LABEL_MAX)) throw labelTooLong()
  if (wireLength(name) > NAME_MAX) throw nameTooLong()
}

export const labelTooLong = () =>
  new DnsFormatError(`must not contain labels longer than ${LABEL_MAX} octets`, null, 'RFC 1035 2.3.4')
export const nameTooLong = () =>
  new DnsFormatError(`must be at most ${NAME_MAX} octets with its label lengths, 253 characters as text`, null, 'RFC 1035 2.3.4')

const endsInDot = (name: string) => name.endsWith('.') && isCut(name, name.length)

/** True if a label ends before `at`: there is an unescaped dot. */
function isCut(name: string, at: number): boolean {
  if (name[at - 1] !== '.') return false
  let backslashes = 0
  while (name[at - 2 - backslashes] === '\\') backslashes++
  return backslashes % 2 === 0
}
