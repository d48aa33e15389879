/** A pattern that variables are held to. */
export interface Pattern {
  /** Whether all of the text fits, from its first character to its last. */
  fits(text: string): boolean
}

/** A pattern that cannot be read; the message is a rule, to follow "must". */
export class PatternError extends Error {
  override name = 'PatternError'
}

/** Characters of a pattern at most. */
export const longestPattern = 200

// Places of all alternatives together: a match takes as many steps for each character of a text.
const mostPlaces = 1000

/**
 * Reads a pattern of a small language that cannot take long, whatever it is given: characters, `.`, `\d` `\w` `\s`, classes such as
 * `[a-z0-9-]` and `[^/]`, each once or with `?` `*` `+` `{2}` `{2,}` `{2,5}`, and `|` between whole alternatives. `^` at the start and
 * `$` at the end are understood and mean nothing, since a pattern is always about the whole text. Groups, look-around and
 * back-references are not in it.
 * @throws PatternError
 */
export function patternOf(source: string): Pattern {
  if (source.length > longestPattern) throw new PatternError(`have at most ${longestPattern} characters`)
  const alternatives = alternativesOf(source).map(placesOf)
  if (alternatives.reduce((sum, one) => sum + one.length, 0) > mostPlaces)
    throw new PatternError(`stand for at most ${mostPlaces} characters, its repetitions counted`)
  return { fits: text => alternatives.some(places => fitsPlaces(places, [...text])) }
}

type Takes = (character: string) => boolean

/** One character of the pattern: what it takes, and whether it may be passed over or repeated. */
interface Place {
  takes: Takes
  optional: boolean
  repeats: boolean
}

function alternativesOf(source: string): string[] {
  const found = ['']
  for (let at = 0, inClass = false; at < source.length; at++) {
    const character = source[at]!
    if (character === '\\') {
      found[found.length - 1] += source.slice(at, at + 2)
      at++
      continue
    }
    if (character === '[') inClass = true
    if (character === ']') inClass = false
    if (character === '|' && !inClass) found.push('')
    else found[found.length - 1] += character
  }
  return found.map(one => one.replace(/^\^/, '').replace(/(?<!\\)\$$/, ''))
}

function placesOf(source: string): Place[] {
  const reader = { characters: [...source], at: 0 }
  const places: Place[] = []
  while (reader.at < reader.characters.length) {
    const takes = atomOf(reader)
    const [least, most] = timesOf(reader)
    for (let time = 0; time < least; time++) places.push({ takes, optional: false, repeats: false })
    if (most === null) places.push({ takes, optional: true, repeats: true })
    else for (let time = least; time < most; time++) places.push({ takes, optional: true, repeats: false })
    if (places.length > mostPlaces) break
  }
  return places
}

interface Reader {
  characters: string[]
  at: number
}

const kinds: Record<string, Takes> = {
  d: one => one >= '0' && one <= '9',
  w: one => /^[A-Za-z0-9_]$/.test(one),
  s: one => one === ' ' || one === '\t',
}

function atomOf(reader: Reader): Takes {
  const character = reader.characters[reader.at++]!
  if (character === '.') return () => true
  if (character === '[') return classOf(reader)
  if (character === '\\') return escaped(reader)
  if ('()*+?{}^$]'.includes(character))
    throw new PatternError(
      character === '(' || character === ')'
        ? 'have no groups: only characters, classes and repetitions, and | between whole alternatives'
        : `have a backslash before ${character} where it stands for itself`,
    )
  return one => one === character
}

function escaped(reader: Reader): Takes {
  const character = reader.characters[reader.at++]
  if (character === undefined) throw new PatternError('not end in a backslash')
  const kind = kinds[character]
  if (kind) return kind
  if (/^[A-Za-z0-9]$/.test(character)) throw new PatternError(`not have \\${character}: it has \\d, \\w and \\s`)
  return one => one === character
}

function classOf(reader: Reader): Takes {
  const { characters } = reader
  const negated = characters[reader.at] === '^'
  if (negated) reader.at++
  const members: Takes[] = []
  const single = (): { takes: Takes; character: string | null } => {
    const character = characters[reader.at++]
    if (character === undefined) throw new PatternError('close each [ with ]')
    if (character !== '\\') return { takes: one => one === character, character }
    const next = characters[reader.at]
    const takes = escaped(reader)
    return { takes, character: next !== undefined && kinds[next] ? null : next! }
  }
  while (characters[reader.at] !== ']') {
    const from = single()
    const isRange = characters[reader.at] === '-' && characters[reader.at + 1] !== ']' && from.character !== null
    if (!isRange) {
      members.push(from.takes)
      continue
    }
    reader.at++
    const to = single()
    if (to.character === null || codeOf(from.character!) > codeOf(to.character))
      throw new PatternError('have ranges that go upwards, such as a-z')
    const [first, last] = [codeOf(from.character!), codeOf(to.character)]
    members.push(one => codeOf(one) >= first && codeOf(one) <= last)
  }
  reader.at++
  if (members.length === 0) throw new PatternError('have something within [ and ]')
  return one => members.some(takes => takes(one)) !== negated
}

const codeOf = (character: string): number => character.codePointAt(0)!

function timesOf(reader: Reader): [least: number, most: number | null] {
  const character = reader.characters[reader.at]
  if (character === '?') reader.at++
  if (character === '?') return [0, 1]
  if (character === '*' || character === '+') {
    reader.at++
    return [character === '+' ? 1 : 0, null]
  }
  if (character !== '{') return [1, 1]
  const rest = reader.characters.slice(reader.at).join('')
  const [whole, least, comma, most] = /^\{(\d{1,3})(,?)(\d{0,3})\}/.exec(rest) ?? []
  if (whole === undefined || (comma === '' && most !== '')) throw new PatternError('repeat with {2}, {2,} or {2,5}')
  reader.at += whole.length
  const first = Number(least)
  const last = comma === '' ? first : most === '' ? null : Number(most)
  if (last !== null && last < first) throw new PatternError('repeat from the smaller number to the larger')
  return [first, last]
}

/**
 * Walks all ways through the places at once, so that each character is looked at once for each place, and held once against what is
 * repeated.
 */
function fitsPlaces(places: readonly Place[], text: readonly string[]): boolean {
  let at = new Uint8Array(places.length + 1)
  // Whoever is before a place that may be passed over is behind it too.
  const reach = (to: Uint8Array, place: number) => {
    for (let next = place; to[next] === 0; next++) {
      to[next] = 1
      if (!places[next]?.optional) return
    }
  }
  reach(at, 0)
  for (const character of text) {
    const next = new Uint8Array(places.length + 1)
    // Places of one repetition are side by side.
    let last: Takes | null = null
    let fits = false
    let goesOn = false
    for (let place = 0; place < places.length; place++) {
      if (at[place] === 0) continue
      const { takes, repeats } = places[place]!
      if (takes !== last) fits = takes(character)
      last = takes
      if (!fits) continue
      goesOn = true
      if (repeats) reach(next, place)
      reach(next, place + 1)
    }
    if (!goesOn) return false
    at = next
  }
  return at[places.length] === 1
}
