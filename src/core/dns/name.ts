import { domainToASCII } from 'node:url'
import { DnsFormatError } from './format-error'
import { escapeAt, numericEscape } from './octets'

// A name is text throughout: absolute, ending in a dot, its case kept, with one spelling for every octet (NAME_TEXT).
// So names that are equal but for case are equal texts but for case, and a suffix of a name is a suffix of its text.

/** The most octets of a label, and of a whole name with its lengths and the root (RFC 1035 2.3.4). */
export const LABEL_MAX = 63
export const NAME_MAX = 255

/**
 * Reads a name of presentation text (RFC 1035 5.1) and gives its one absolute spelling. `@` is the origin, a name
 * without a dot at its end is below it. Labels outside ASCII become A-labels (IDNA 2008 by UTS 46, not transitional).
 * @param origin an absolute name, or null where names must be absolute
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

/** The labels from left to right, each a text whose characters are octets (0 to 255). The root has none. */
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

/** The name of such labels; `[]` is the root. No limit is checked. */
export function nameOf(labels: readonly string[]): string {
  if (labels.length === 0) return '.'
  let name = ''
  for (const label of labels) {
    for (let at = 0; at < label.length; at++) name += NAME_TEXT[label.charCodeAt(at)]!
    name += '.'
  }
  return name
}

/** The name in lower case; only ASCII letters have case in DNS (RFC 4343), and nothing else is in the text. */
export const lowerName = (name: string): string => name.toLowerCase()

export const sameName = (a: string, b: string): boolean => a === b || lowerName(a) === lowerName(b)

/** True for the ancestor itself and every name below it. */
export function isWithin(name: string, ancestor: string): boolean {
  if (ancestor === '.') return true
  if (name.length === ancestor.length) return sameName(name, ancestor)
  const cut = name.length - ancestor.length
  return cut > 0 && isCut(name, cut) && sameName(name.slice(cut), ancestor)
}

/** The name one label up, null for the root. */
export function parentName(name: string): string | null {
  if (name === '.') return null
  for (let at = name.indexOf('.'); at >= 0; at = name.indexOf('.', at + 1)) {
    if (isCut(name, at + 1)) return at + 1 === name.length ? '.' : name.slice(at + 1)
  }
  return null
}

/** How a zone file writes the name: `@` for the origin, without the origin when below it, absolute otherwise. */
export function relativeName(name: string, origin: string): string {
  if (sameName(name, origin)) return '@'
  if (origin === '.' || !isWithin(name, origin)) return name
  return name.slice(0, name.length - origin.length - 1)
}

/**
 * A text that sorts, by its code units, as the name does in canonical order (RFC 4034 6.1): label by label from the
 * right, lower case, octets as unsigned numbers, an absent label first.
 */
export function canonicalKey(name: string): string {
  const key = labelsOf(lowerName(name)).toReversed()
  // The separator is the smallest character, so octets 0 and 1 are written as two.
  const spelled = name.includes('\\00') ? key.map(label => label.replaceAll('\x01', '\x01\x01').replaceAll('\0', '\x01\0')) : key
  return spelled.join('\0')
}

/** Canonical order of two names (RFC 4034 6.1), as a comparison for sorting. */
export function compareNames(a: string, b: string): number {
  const [left, right] = [canonicalKey(a), canonicalKey(b)]
  return left < right ? -1 : left > right ? 1 : 0
}

/** The octets a name takes on the wire, without compression. */
export function wireLength(name: string): number {
  if (name === '.') return 1
  if (!name.includes('\\')) return name.length + 1
  return labelsOf(name).reduce((sum, label) => sum + label.length + 1, 1)
}

/** Labels outside ASCII as A-labels, all others as they are. @throws DnsFormatError for what IDNA refuses */
export function toAscii(text: string): string {
  // UTS 46 takes these three for dots too.
  return text
    .split(/[.\u3002\uff0e\uff61]/)
    .map(label => {
      if (!NOT_ASCII.test(label)) return label
      // What a URL would read as the end of its host.
      const ascii = /[\\%/?#@:\s[\]]/.test(label) ? '' : domainToASCII(label)
      if (!/^[a-z0-9_*-]+$/.test(ascii))
        throw new DnsFormatError(`has a label that is no internationalized name: "${label}"`, null, 'RFC 5891 4.2')
      return ascii
    })
    .join('.')
}

/** How each octet is spelled in a name. What has a meaning in zone files stands behind a backslash. */
export const NAME_TEXT: readonly string[] = Array.from({ length: 256 }, (_, octet) => {
  if (octet < 0x21 || octet > 0x7e) return numericEscape(octet)
  const character = String.fromCharCode(octet)
  return '.\\"();@$'.includes(character) ? `\\${character}` : character
})

const PLAIN = /^(?:[\w*-]+\.)*[\w*-]+\.?$/
// oxlint-disable-next-line no-control-regex -- the question is whether all of it is ASCII
const NOT_ASCII = /[^\x00-\x7f]/

/** Reads what is not plain, and writes every octet in its one spelling. */
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
      throw new DnsFormatError('must have blanks and control characters escaped as \\DDD', null, 'RFC 1035 5.1')
    }
    name += NAME_TEXT[octet]!
    empty = false
    at = next
  }
  return name
}

const emptyLabel = () => new DnsFormatError('must not have an empty label', null, 'RFC 1035 3.1')

function below(relative: string, origin: string | null): string {
  if (origin === null) throw new DnsFormatError('must be absolute: end it in a dot', null, 'RFC 1035 5.1')
  return origin === '.' ? `${relative}.` : `${relative}.${origin}`
}

/** @throws DnsFormatError when the name or one of its labels is too long */
function checkLengths(name: string): void {
  // A name this short without escapes cannot have a label over 63 octets either.
  if (name.length <= LABEL_MAX) return
  if (labelsOf(name).some(label => label.length > LABEL_MAX)) throw labelTooLong()
  if (wireLength(name) > NAME_MAX) throw nameTooLong()
}

export const labelTooLong = () => new DnsFormatError(`must have labels of at most ${LABEL_MAX} octets`, null, 'RFC 1035 2.3.4')
export const nameTooLong = () =>
  new DnsFormatError(`must be at most ${NAME_MAX} octets with its label lengths, 253 characters as text`, null, 'RFC 1035 2.3.4')

const endsInDot = (name: string) => name.endsWith('.') && isCut(name, name.length)

/** True when a label ends before `at`: there is a dot, and it is not an escaped one. */
function isCut(name: string, at: number): boolean {
  if (name[at - 1] !== '.') return false
  let backslashes = 0
  while (name[at - 2 - backslashes] === '\\') backslashes++
  return backslashes % 2 === 0
}
