import { RE2JS, RE2JSException } from 're2js'

/**
 * A regular expression whose matching time is linear in the length of the text, with a factor of up to `maxSteps`. `check` is called
 * about once per millisecond of a long match, and may throw to stop it.
 */
export interface Regex {
  /** Whether it matches anywhere in the text. */
  test(text: string, check?: () => void): boolean
  /** Whether it matches the whole text. */
  testExact(text: string, check?: () => void): boolean
}

/** An invalid regular expression. The message completes "must …". */
export class InvalidRegex extends Error {
  override name = 'InvalidRegex'
}

/** Maximum number of characters. */
export const maxRegexLength = 500

// Maximum size of the compiled program, with repetitions expanded. It bounds the work for each character of a text.
const maxSteps = 2500

/**
 * Compiles a regular expression in RE2 syntax. RE2 has no look-around and no back-references, so no expression can block a
 * thread.
 * @throws InvalidRegex
 */
export function compileRegex(source: string): Regex {
  if (source.length > maxRegexLength) throw new InvalidRegex(`have at most ${maxRegexLength} characters`)
  const compiled = compile(source)
  const steps = compiled.programSize()
  if (steps > maxSteps) throw new InvalidRegex(`compile to at most ${maxSteps} steps with repetitions expanded`)
  // The matcher accepts anything that looks like a string.
  const input = (text: string, check: (() => void) | undefined) =>
    check && steps * text.length > workPerCheck ? (new CheckedText(text, check, workPerCheck / steps) as unknown as string) : text
  return {
    test: (text, check) => compiled.test(input(text, check)),
    testExact: (text, check) => compiled.testExact(input(text, check)),
  }
}

// Steps times characters. The matcher does at least this much in a millisecond.
const workPerCheck = 100_000

/** A text that calls `check` whenever a number of its characters were read. */
class CheckedText extends String {
  #left = 0

  constructor(
    text: string,
    private readonly check: () => void,
    private readonly every: number,
  ) {
    super(text)
  }

  override charCodeAt(at: number): number {
    if (--this.#left < 0) {
      this.#left = this.every
      this.check()
    }
    return super.charCodeAt(at)
  }
}

/**
 * Compiles a glob: `*` matches any characters, `?` one character, `[a-z]` and `[^a-z]` a character class; `\` escapes.
 * @throws InvalidRegex
 */
export function compileGlob(source: string): Regex {
  if (source.length > maxRegexLength) throw new InvalidRegex(`have at most ${maxRegexLength} characters`)
  const tokens = source.match(/\\[^]|\[\^?[^\]]+\]|[^]/gu) ?? []
  const isClass = (token: string) => token.length > 2 && token.startsWith('[')
  const literal = (token: string) => (token.length > 1 && token.startsWith('\\') ? token.slice(1) : token)
  if (!tokens.some(token => token === '?' || isClass(token))) {
    const parts = ['']
    for (const token of tokens)
      if (token === '*') parts.push('')
      else parts[parts.length - 1] += literal(token)
    const testExact = (text: string) => hasInOrder(text, parts)
    return { test: testExact, testExact }
  }
  const expressions = tokens.map(token => {
    if (token === '*') return '.*'
    if (token === '?') return '.'
    return isClass(token) ? token : RE2JS.quote(literal(token))
  })
  const { testExact } = compileRegex(`(?s)${expressions.join('')}`)
  return { test: testExact, testExact }
}

/**
 * Whether a text consists of these parts in order, with any characters between them. Taking the first match of each part is
 * correct, because the parts are separated by `*` only; so one pass over the text is enough.
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
    throw new InvalidRegex(`be a valid RE2 regular expression: ${error.message.replace(/^error parsing regexp: /, '')}`)
  }
}
