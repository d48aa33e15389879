import { Type, type TSchema } from '@sinclair/typebox'
import { Prose } from '../core/shapes'
import { maxRegexLength, compileRegex, InvalidRegex, type Regex } from '../core/regex'
import { InvalidCheckInput } from './check'
import { CheckFailed } from './connect-failure'

/** Options of types that wait for a text. */
export const expectedText = {
  expect: Type.Optional(
    Prose({
      minLength: 1,
      maxLength: maxRegexLength,
      title: 'Expected pattern',
      description: 'Regular expression (RE2 syntax) that the received text must match.',
      examples: ['^220 '],
    }),
  ),
  expect_text: Type.Optional(
    Prose({
      minLength: 1,
      maxLength: 1000,
      title: 'Expected text',
      description: 'Text that must be received, as an alternative to `expect`.',
      examples: ['+PONG'],
    }),
  ),
} satisfies Record<string, TSchema>

/** The values of those options. */
interface ExpectedText {
  expect?: string
  expect_text?: string
}

// In all per check. Matching blocks the thread that runs all checks.
const maxMatchingMs = 100

/**
 * Returns a matcher for the expected text, with a description for messages; null if nothing is expected. It throws CheckFailed if
 * matching takes too long in all.
 */
export function textMatcher({
  expect,
  expect_text: plain,
}: ExpectedText): { matches(text: string): boolean; description: string } | null {
  if (expect === undefined && plain === undefined) return null
  const regex = expect === undefined ? null : compile(expect)
  let leftMs = maxMatchingMs
  const test = (regex: Regex, text: string): boolean => {
    const until = performance.now() + leftMs
    const found = regex.test(text, () => {
      if (performance.now() > until)
        throw new CheckFailed('condition', `matching the expected text takes longer than ${maxMatchingMs} ms`)
    })
    leftMs = until - performance.now()
    return found
  }
  return {
    matches: text => (regex === null || test(regex, text)) && (plain === undefined || text.includes(plain)),
    description: JSON.stringify(expect ?? plain),
  }
}

/** Validates what the schema cannot express. @param pointer of the object with the options @throws InvalidCheckInput */
export function validateExpectedText({ expect, expect_text: plain }: ExpectedText, pointer: string): void {
  if (expect !== undefined && plain !== undefined)
    throw new InvalidCheckInput(`${pointer}/expect_text`, 'must not be combined with `expect`.')
  if (expect === undefined) return
  try {
    compileRegex(expect)
  } catch (error) {
    if (error instanceof InvalidRegex) throw new InvalidCheckInput(`${pointer}/expect`, `must ${error.message}.`)
    throw error
  }
}

/** Compiling a regular expression takes longer than matching it. */
const compiled = new Map<string, Regex>()
const maxCompiled = 500

function compile(source: string): Regex {
  const regex = compiled.get(source) ?? compileRegex(source)
  const [oldest] = compiled.keys()
  if (compiled.size >= maxCompiled && !compiled.has(source)) compiled.delete(oldest!)
  compiled.set(source, regex)
  return regex
}
