import { Type, type TSchema } from '@sinclair/typebox'
import { Prose } from '../core/shapes'
import { longestRegex, regexOf, RegexRefused, type Regex } from '../core/regex'
import { CheckInputRefused } from './check'

/** Options of types that wait for a text. */
export const expectedText = {
  expect: Type.Optional(
    Prose({
      minLength: 1,
      maxLength: longestRegex,
      description: 'Regular expression, in the syntax of RE2, of what must come.',
      examples: ['^220 '],
    }),
  ),
  expect_text: Type.Optional(
    Prose({ minLength: 1, maxLength: 1000, description: 'The same as plain text that must be in it.', examples: ['+PONG'] }),
  ),
} satisfies Record<string, TSchema>

/** What is expected, by those options. */
export interface ExpectedText {
  expect?: string
  expect_text?: string
}

/** Whether a text is as expected, and what that is in words; null where nothing is expected. */
export function expectationOf({
  expect,
  expect_text: plain,
}: ExpectedText): { fits(text: string): boolean; words: string } | null {
  if (expect === undefined && plain === undefined) return null
  const regex = expect === undefined ? null : known(expect)
  return {
    fits: text => (regex?.foundIn(text) ?? true) && (plain === undefined || text.includes(plain)),
    words: JSON.stringify(expect ?? plain),
  }
}

/** What a schema cannot say. @param pointer of the object that has the options @throws CheckInputRefused */
export function refuseExpected({ expect, expect_text: plain }: ExpectedText, pointer: string): void {
  if (expect !== undefined && plain !== undefined)
    throw new CheckInputRefused(`${pointer}/expect_text`, 'must not be given with `expect`.')
  if (expect === undefined) return
  try {
    regexOf(expect)
  } catch (error) {
    if (error instanceof RegexRefused) throw new CheckInputRefused(`${pointer}/expect`, `must ${error.message}.`)
    throw error
  }
}

/** Compiling one takes longer than looking with it. */
const compiled = new Map<string, Regex>()
const compiledMost = 500

function known(source: string): Regex {
  const regex = compiled.get(source) ?? regexOf(source)
  const [oldest] = compiled.keys()
  if (compiled.size >= compiledMost && !compiled.has(source)) compiled.delete(oldest!)
  compiled.set(source, regex)
  return regex
}
