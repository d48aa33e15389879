/** Characters from the first to the last code point of each pair. */
export type Ranges = readonly (readonly [first: number, last: number])[]

export type Assertion = 'start' | 'end' | 'line_start' | 'line_end' | 'boundary' | 'no_boundary'

/** A regular expression as a tree. */
export type Node =
  | { kind: 'one'; of: Ranges }
  | { kind: 'where'; assertion: Assertion }
  | { kind: 'sequence' | 'either'; parts: readonly Node[] }
  | { kind: 'repeat'; part: Node; least: number; most: number | null }

/** A regular expression that is not taken; the message is a rule, to follow "must". */
export class RegexRefused extends Error {
  override name = 'RegexRefused'
}

export const lastCodePoint = 0x10ffff

/** @throws RegexRefused */
export function readRegex(source: string): Node {
  const flags = /^\(\?([ims]+)\)/.exec(source)
  const reader: Reader = {
    characters: [...source.slice(flags?.[0].length ?? 0)],
    at: 0,
    depth: 0,
    ignoresCase: flags?.[1]!.includes('i') ?? false,
    manyLines: flags?.[1]!.includes('m') ?? false,
    dotAll: flags?.[1]!.includes('s') ?? false,
  }
  const node = either(reader)
  if (reader.at < reader.characters.length) throw new RegexRefused('open with ( each group that it closes')
  return node
}

interface Reader {
  characters: string[]
  at: number
  depth: number
  ignoresCase: boolean
  manyLines: boolean
  dotAll: boolean
}

const deepestGroups = 50

function either(reader: Reader): Node {
  const parts = [sequence(reader)]
  while (reader.characters[reader.at] === '|') {
    reader.at++
    parts.push(sequence(reader))
  }
  return parts.length === 1 ? parts[0]! : { kind: 'either', parts }
}

function sequence(reader: Reader): Node {
  const parts: Node[] = []
  for (;;) {
    const character = reader.characters[reader.at]
    if (character === undefined || character === '|' || character === ')') return { kind: 'sequence', parts }
    parts.push(repeated(reader, atom(reader)))
  }
}

function repeated(reader: Reader, part: Node): Node {
  const times = timesOf(reader)
  if (times === null) return part
  if (part.kind === 'where') throw new RegexRefused('repeat characters and groups, not places such as ^ or \\b')
  // Whether it takes as few or as many as it can makes no difference to whether there is a match.
  if (reader.characters[reader.at] === '?') reader.at++
  if (timesOf(reader) !== null) throw new RegexRefused('have one repetition for each character or group')
  return { kind: 'repeat', part, least: times[0], most: times[1] }
}

function timesOf(reader: Reader): [least: number, most: number | null] | null {
  const character = reader.characters[reader.at]
  if (character === '*' || character === '+' || character === '?') {
    reader.at++
    return [character === '+' ? 1 : 0, character === '?' ? 1 : null]
  }
  if (character !== '{') return null
  const [whole, least, comma, most] =
    /^\{(\d{1,4})(,?)(\d{0,4})\}/.exec(reader.characters.slice(reader.at, reader.at + 12).join('')) ?? []
  if (whole === undefined || (comma === '' && most !== ''))
    throw new RegexRefused('repeat with {2}, {2,} or {2,5}, and have a backslash before a { that stands for itself')
  reader.at += whole.length
  const last = comma === '' ? Number(least) : most === '' ? null : Number(most)
  if (last !== null && last < Number(least)) throw new RegexRefused('repeat from the smaller number to the larger')
  return [Number(least), last]
}

function atom(reader: Reader): Node {
  const character = reader.characters[reader.at++]!
  switch (character) {
    case '(':
      return group(reader)
    case '[':
      return { kind: 'one', of: classOf(reader) }
    case '.':
      return { kind: 'one', of: reader.dotAll ? [[0, lastCodePoint]] : negated(lineEnds) }
    case '^':
      return { kind: 'where', assertion: reader.manyLines ? 'line_start' : 'start' }
    case '$':
      return { kind: 'where', assertion: reader.manyLines ? 'line_end' : 'end' }
    case '\\': {
      const place = ({ b: 'boundary', B: 'no_boundary' } as const)[reader.characters[reader.at] ?? '']
      if (place) reader.at++
      return place ? { kind: 'where', assertion: place } : { kind: 'one', of: cased(reader, escaped(reader)) }
    }
    case '*':
    case '+':
    case '?':
    case '{':
      throw new RegexRefused(`have something to repeat before ${character}, or a backslash where it stands for itself`)
    default:
      return { kind: 'one', of: cased(reader, single(character.codePointAt(0)!)) }
  }
}

function group(reader: Reader): Node {
  if (reader.characters[reader.at] === '?') {
    const opening = /^\?(?::|<[A-Za-z_]\w{0,50}>)/.exec(reader.characters.slice(reader.at, reader.at + 60).join(''))
    if (!opening) throw new RegexRefused('have no look-around, and flags such as (?i) at its very start alone')
    reader.at += opening[0].length
  }
  if (++reader.depth > deepestGroups) throw new RegexRefused(`have groups at most ${deepestGroups} deep`)
  const node = either(reader)
  if (reader.characters[reader.at++] !== ')') throw new RegexRefused('close each ( with )')
  reader.depth--
  return node
}

const single = (code: number): Ranges => [[code, code]]
const lineEnds: Ranges = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
]
const digits: Ranges = [[48, 57]]
const wordCharacters: Ranges = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
]
// White space and line ends of ECMAScript.
const spaces: Ranges = [
  [9, 13],
  [32, 32],
  [160, 160],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]

export const isWordCharacter = (code: number): boolean => wordCharacters.some(([first, last]) => code >= first && code <= last)

function negated(ranges: Ranges): Ranges {
  const found: [number, number][] = []
  let next = 0
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (first > next) found.push([next, first - 1])
    next = Math.max(next, last + 1)
  }
  if (next <= lastCodePoint) found.push([next, lastCodePoint])
  return found
}

const kinds: Record<string, Ranges> = {
  d: digits,
  D: negated(digits),
  w: wordCharacters,
  W: negated(wordCharacters),
  s: spaces,
  S: negated(spaces),
}
const controls: Record<string, number> = { t: 9, n: 10, v: 11, f: 12, r: 13, '0': 0 }

function escaped(reader: Reader): Ranges {
  const character = reader.characters[reader.at++]
  if (character === undefined) throw new RegexRefused('not end in a backslash')
  if (kinds[character]) return kinds[character]
  if (character === '0' && /\d/.test(reader.characters[reader.at] ?? ''))
    throw new RegexRefused('write \\x00 for characters by number')
  if (controls[character] !== undefined) return single(controls[character])
  if (character === 'x' || character === 'u') return single(codeByNumber(reader, character))
  if (/[A-Za-z0-9]/.test(character))
    throw new RegexRefused(
      `not have \\${character}: it has \\d \\w \\s \\b, their opposites, \\t \\n \\r \\f \\v \\0, \\x41 and \\u0041`,
    )
  return single(character.codePointAt(0)!)
}

function codeByNumber(reader: Reader, kind: 'x' | 'u'): number {
  const found = (kind === 'x' ? /^[\dA-Fa-f]{2}/ : /^(?:[\dA-Fa-f]{4}|\{[\dA-Fa-f]{1,6}\})/).exec(
    reader.characters.slice(reader.at, reader.at + 8).join(''),
  )?.[0]
  const code = found === undefined ? null : Number.parseInt(found.replace(/[{}]/g, ''), 16)
  if (code === null || code > lastCodePoint) throw new RegexRefused('name characters by number as \\x41, \\u0041 or \\u{1f600}')
  reader.at += found!.length
  return code
}

function classOf(reader: Reader): Ranges {
  const { characters } = reader
  const isNegated = characters[reader.at] === '^'
  if (isNegated) reader.at++
  const ranges: (readonly [number, number])[] = []
  while (characters[reader.at] !== ']') {
    const from = classMember(reader)
    const isRange = characters[reader.at] === '-' && characters[reader.at + 1] !== ']'
    if (!isRange) {
      ranges.push(...from)
      continue
    }
    reader.at++
    const to = classMember(reader)
    const [first, last] = [from[0]![0], to[0]![0]]
    if (!isSingle(from) || !isSingle(to) || first > last)
      throw new RegexRefused('have ranges that go upwards from a character to another, such as a-z')
    ranges.push([first, last])
  }
  reader.at++
  const both = cased(reader, ranges)
  return isNegated ? negated(both) : both
}

const isSingle = (ranges: Ranges): boolean => ranges.length === 1 && ranges[0]![0] === ranges[0]![1]

function classMember(reader: Reader): Ranges {
  const character = reader.characters[reader.at++]
  if (character === undefined) throw new RegexRefused('close each [ with ]')
  if (character !== '\\') return single(character.codePointAt(0)!)
  if (reader.characters[reader.at] !== 'b') return escaped(reader)
  reader.at++
  return single(8)
}

// Longer ranges than this are of whole scripts: their letters of both cases are in them.
const longestCased = 600

function cased(reader: Reader, ranges: Ranges): Ranges {
  if (!reader.ignoresCase) return ranges
  const all = [...ranges]
  for (const [first, last] of ranges) {
    if (last - first > longestCased) continue
    for (let code = first; code <= last; code++) {
      const character = String.fromCodePoint(code)
      for (const other of [character.toLowerCase(), character.toUpperCase()])
        if (other !== character && [...other].length === 1) all.push(...single(other.codePointAt(0)!))
    }
  }
  return all
}
