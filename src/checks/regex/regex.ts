import { isWordCharacter, lastCodePoint, readRegex, RegexRefused, type Assertion, type Node, type Ranges } from './read'

export { RegexRefused } from './read'

/** A regular expression that is looked for in time proportional to the text, whatever either is. */
export interface Regex {
  /** Whether it matches anywhere in the text, as `test` of ECMAScript's own does. */
  foundIn(text: string): boolean
}

/** Characters of a regular expression at most. */
export const longestRegex = 500

// With repetitions written out: each character of a text is held against as many, at worst.
const mostStates = 1500
// What was worked out is forgotten at so many sets of states: memory stays bounded too.
const mostSets = 500

/**
 * Reads a regular expression of ECMAScript without what can take for ever: groups, classes, repetitions, `|`, `^` `$` `\b`, `(?i)`
 * `(?m)` `(?s)` at the start; no look-around and no back-references. All ways to match are walked at once (Thompson 1968), so that no
 * expression can keep a check, or the checks of others, from going on.
 * @throws RegexRefused
 */
export function regexOf(source: string): Regex {
  if (source.length > longestRegex) throw new RegexRefused(`have at most ${longestRegex} characters`)
  return automatonOf(readRegex(source))
}

/** A glob: `*` for any characters, `?` for one, `[a-z]` and `[^a-z]` for one of a class, `\` before one that stands for itself. */
export function globOf(source: string): Regex {
  if (source.length > longestRegex) throw new RegexRefused(`have at most ${longestRegex} characters`)
  const tokens = source.match(/\\[^]|\[\^?[^\]]+\]|[^]/gu) ?? []
  const whole = tokens.map(token => {
    if (token === '*') return '[^]*'
    if (token === '?') return '[^]'
    if (token.length > 2 && token.startsWith('[')) return token
    return (token.length > 1 && token.startsWith('\\') ? token.slice(1) : token).replace(/[\\^$.*+?()[\]{}|]/, '\\$&')
  })
  return automatonOf(readRegex(`^${whole.join('')}$`))
}

type State =
  | { kind: 'one'; of: Ranges; next: number }
  | { kind: 'where'; assertion: Assertion; next: number }
  | { kind: 'fork'; to: number[] }
  | { kind: 'match' }

function statesOf(node: Node): { states: State[]; start: number } {
  const states: State[] = [{ kind: 'match' }]
  const add = (state: State): number => {
    if (states.length >= mostStates)
      throw new RegexRefused(`stand for at most ${mostStates} characters, its repetitions written out`)
    return states.push(state) - 1
  }
  // Built from the end: each is told where it leads.
  const build = (part: Node, next: number): number => {
    switch (part.kind) {
      case 'one':
        return add({ kind: 'one', of: part.of, next })
      case 'where':
        return add({ kind: 'where', assertion: part.assertion, next })
      case 'sequence':
        return part.parts.reduceRight((to, one) => build(one, to), next)
      case 'either':
        return add({ kind: 'fork', to: part.parts.map(one => build(one, next)) })
      case 'repeat': {
        let to = next
        if (part.most === null) {
          const fork: State = { kind: 'fork', to: [next] }
          to = add(fork)
          fork.to.push(build(part.part, to))
        } else for (let time = part.least; time < part.most; time++) to = add({ kind: 'fork', to: [next, build(part.part, to)] })
        for (let time = 0; time < part.least; time++) to = build(part.part, to)
        return to
      }
    }
  }
  return { start: build(node, 0), states }
}

/** What stands at a side of a place in the text. */
type Side = 'edge' | 'line_end' | 'word' | 'other'

interface StateSet {
  states: number[]
  before: Side
  /** By class of characters, the end of the text last; undefined where not worked out yet. */
  next: (StateSet | 'matched' | undefined)[]
}

function automatonOf(node: Node): Regex {
  const { states, start } = statesOf(node)
  const classes = classesOf(states)
  let sets = new Map<string, StateSet>()
  const setOf = (members: number[], before: Side): StateSet => {
    const key = `${before}:${members.join()}`
    const known = sets.get(key)
    if (known) return known
    if (sets.size >= mostSets) sets = new Map()
    const made: StateSet = { states: members, before, next: [] }
    sets.set(key, made)
    return made
  }
  const advance = (from: StateSet, index: number): StateSet | 'matched' => {
    const after: Side = index === classes.count ? 'edge' : sideOf(classes.sample(index))
    const reached = reach(states, from.states, from.before, after)
    if (reached === null) return 'matched'
    const next = new Set([start])
    if (index < classes.count) {
      const code = classes.sample(index)
      for (const one of reached) if (one.of.some(([first, last]) => code >= first && code <= last)) next.add(one.next)
    }
    return setOf(
      [...next].sort((a, b) => a - b),
      after,
    )
  }
  return {
    foundIn: text => {
      let set = setOf([start], 'edge')
      for (let at = 0; at <= text.length;) {
        const code = at < text.length ? text.codePointAt(at)! : null
        at += code !== null && code > 0xffff ? 2 : 1
        const index = code === null ? classes.count : classes.of(code)
        const next = (set.next[index] ??= advance(set, index))
        if (next === 'matched') return true
        set = next
      }
      return false
    },
  }
}

/** The characters that can be taken from here, or null when there is a match. */
function reach(states: readonly State[], from: readonly number[], before: Side, after: Side) {
  const seen = new Set(from)
  const open = [...from]
  const found: Extract<State, { kind: 'one' }>[] = []
  const go = (to: number) => {
    if (seen.has(to)) return
    seen.add(to)
    open.push(to)
  }
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const state = states[next]!
    if (state.kind === 'match') return null
    if (state.kind === 'one') found.push(state)
    else if (state.kind === 'fork') state.to.forEach(go)
    else if (holds(state.assertion, before, after)) go(state.next)
  }
  return found
}

function holds(assertion: Assertion, before: Side, after: Side): boolean {
  if (assertion === 'start') return before === 'edge'
  if (assertion === 'end') return after === 'edge'
  if (assertion === 'line_start') return before === 'edge' || before === 'line_end'
  if (assertion === 'line_end') return after === 'edge' || after === 'line_end'
  return ((before === 'word') !== (after === 'word')) === (assertion === 'boundary')
}

function sideOf(code: number): Side {
  if (isWordCharacter(code)) return 'word'
  return code === 10 || code === 13 || code === 0x2028 || code === 0x2029 ? 'line_end' : 'other'
}

/** Characters that no part of the expression tells apart are one class. */
function classesOf(states: readonly State[]) {
  // Where words and lines end, the sides change too.
  const firsts = new Set([0, 10, 11, 13, 14, 48, 58, 65, 91, 95, 96, 97, 123, 0x2028, 0x202a])
  for (const state of states)
    if (state.kind === 'one')
      for (const [first, last] of state.of) {
        firsts.add(first)
        if (last < lastCodePoint) firsts.add(last + 1)
      }
  const sorted = [...firsts].sort((a, b) => a - b)
  const search = (code: number): number => {
    let low = 0
    let high = sorted.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (sorted[middle]! <= code) low = middle
      else high = middle - 1
    }
    return low
  }
  const table = Uint16Array.from({ length: 256 }, (_, code) => search(code))
  return {
    count: sorted.length,
    of: (code: number): number => (code < 256 ? table[code]! : search(code)),
    sample: (index: number): number => sorted[index]!,
  }
}
