import { RE2JS, RE2JSException } from 're2js'

/** A regular expression that is looked for in time proportional to the text, whatever either is. */
export interface Regex {
  /** Whether it matches anywhere in the text. */
  foundIn(text: string): boolean
  /** Whether it matches the text from its first character to its last. */
  fits(text: string): boolean
}

/** A regular expression that is not taken; the message is a rule, to follow "must". */
export class RegexRefused extends Error {
  override name = 'RegexRefused'
}

/** Characters of a regular expression at most. */
export const longestRegex = 500

// With repetitions written out: each is worked through for a text, at worst.
const mostSteps = 2500

/**
 * Reads a regular expression in the syntax of RE2, which has no look-around and no back-references: so no expression can keep a
 * thread from going on.
 * @throws RegexRefused
 */
export function regexOf(source: string): Regex {
  if (source.length > longestRegex) throw new RegexRefused(`have at most ${longestRegex} characters`)
  const compiled = compile(source)
  if (compiled.programSize() > mostSteps)
    throw new RegexRefused(`stand for at most ${mostSteps} steps, its repetitions written out`)
  return { foundIn: text => compiled.test(text), fits: text => compiled.testExact(text) }
}

/** A glob: `*` for any characters, `?` for one, `[a-z]` and `[^a-z]` for one of a class, `\` before one that stands for itself. @throws RegexRefused */
export function globOf(source: string): Regex {
  if (source.length > longestRegex) throw new RegexRefused(`have at most ${longestRegex} characters`)
  const tokens = source.match(/\\[^]|\[\^?[^\]]+\]|[^]/gu) ?? []
  const isClass = (token: string) => token.length > 2 && token.startsWith('[')
  const literal = (token: string) => (token.length > 1 && token.startsWith('\\') ? token.slice(1) : token)
  if (!tokens.some(token => token === '?' || isClass(token))) {
    const parts = ['']
    for (const token of tokens)
      if (token === '*') parts.push('')
      else parts[parts.length - 1] += literal(token)
    const fits = (text: string) => hasInOrder(text, parts)
    return { foundIn: fits, fits }
  }
  const expressions = tokens.map(token => {
    if (token === '*') return '.*'
    if (token === '?') return '.'
    return isClass(token) ? token : RE2JS.quote(literal(token))
  })
  const whole = regexOf(`(?s)${expressions.join('')}`)
  return { foundIn: whole.fits, fits: whole.fits }
}

/**
 * Whether a text is these parts in order, with any characters between them. It takes the first place for each part, which is right
 * where nothing else is between them, and reads the text once.
 */
export function hasInOrder(text: string, [first = '', ...rest]: readonly string[]): boolean {
  const last = rest.pop()
  if (last === undefined) return text === first
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
  const end = text.length - last.length
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    throw new RegexRefused(`be a regular expression of RE2: ${error.message.replace(/^error parsing regexp: /, '')}`)
  }
}
