import { Type } from '@sinclair/typebox'
import type { FieldProblem } from '../../core/problem'

const maxLabels = 32
const maxTerms = 20
const maxSelectorLength = 2_000
const part = '[A-Za-z0-9._-]{1,63}'
const partRule = '1 to 63 characters: A-Z, a-z, 0-9, and . _ -'
// Labels that exist at a cloud are shown and selected as they are there. Hetzner, for one, refuses others to be set.
const ownPart = '[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?'
const ownPartRule = `${partRule}. They start and end with a letter or digit`

/** The key of the label that marks what was created here, at clouds that store marks as labels. */
export const markLabel = 'bailiwick'

/** User-defined labels of a cloud resource. Their characters are those that all clouds accept. */
export const Labels = Type.Record(
  Type.String({ pattern: `^(?!${markLabel}$)${ownPart}$` }),
  Type.String({ pattern: `^${ownPart}$`, 'x-rule': `must have ${partRule}, and start and end with a letter or digit.` }),
  {
    maxProperties: maxLabels,
    additionalProperties: false,
    'x-rule': `must not have this key. Keys have ${ownPartRule}. The key \`${markLabel}\` is reserved.`,
    description:
      `Labels for filtering: up to ${maxLabels} pairs of a key and a value. Both have ${ownPartRule}. ` +
      `The key \`${markLabel}\` is reserved.`,
    examples: [{ role: 'web' }],
  },
)
export type Labels = Record<string, string>

/** A selector of labels. `what` is a noun, such as `servers`. */
export const Selector = (what: string) =>
  Type.String({
    minLength: 1,
    maxLength: maxSelectorLength,
    description:
      `Only ${what} whose labels meet all of these comma-separated terms, up to ${maxTerms}: \`role=web\` (the label has this value), ` +
      '`role!=web` (it has another value or doesn’t exist), `role` (it exists), `!role` (it doesn’t exist).',
    examples: ['role=web,!canary'],
  })

/** A term of a selector: a label with this key exists, with this value if it isn’t null; or none does, if negated. */
export interface SelectorTerm {
  key: string
  value: string | null
  isNegated: boolean
}

/** An invalid selector. The message completes a sentence that starts with the name of the field. */
export class InvalidSelector extends Error {
  override name = 'InvalidSelector'
}

/** Parses a selector such as `role=web,env!=test,backup,!canary`. Spaces around terms are ignored. @throws InvalidSelector */
export function parseSelector(text: string): SelectorTerm[] {
  if (text.length > maxSelectorLength)
    throw new InvalidSelector(`must have at most ${maxSelectorLength.toLocaleString('en-US')} characters.`)
  const terms = text.split(',')
  if (terms.length > maxTerms) throw new InvalidSelector(`must have at most ${maxTerms} terms; it has ${terms.length}.`)
  return terms.map(term => parseTerm(term.trim()))
}

const termPattern = /^(!?)([^!=]*)(?:(!?=)(.*))?$/
const partPattern = new RegExp(`^${part}$`)

function parseTerm(term: string): SelectorTerm {
  if (term === '') throw new InvalidSelector('must not have an empty term. Separate terms with single commas.')
  const refuse = (rule: string): never => {
    throw new InvalidSelector(`has the invalid term ${JSON.stringify(term)}: ${rule}`)
  }
  const [, not, key, operator, value] = termPattern.exec(term) ?? []
  if (key === undefined || (not && operator)) return refuse('a term must be key=value, key!=value, key, or !key.')
  if (!partPattern.test(key)) return refuse(`the key must have ${partRule}.`)
  if (value !== undefined && !partPattern.test(value)) return refuse(`the value must have ${partRule}.`)
  return { key, value: value ?? null, isNegated: not === '!' || operator === '!=' }
}

/** What is wrong with a selector; null if nothing is. @param pointer of its field */
export function selectorProblem(selector: string | null | undefined, pointer: string): FieldProblem | null {
  if (selector == null) return null
  try {
    parseSelector(selector)
    return null
  } catch (error) {
    if (!(error instanceof InvalidSelector)) throw error
    return { pointer, code: 'format', detail: error.message }
  }
}

/** Whether labels meet all terms of a selector. */
export const matchesSelector = (selector: readonly SelectorTerm[], labels: Labels): boolean =>
  selector.every(({ key, value, isNegated }) => {
    const isFound = Object.hasOwn(labels, key) && (value === null || labels[key] === value)
    return isFound !== isNegated
  })

/** Texts by which labels are found in the database: for each label its key, and its key with its value. */
export const labelMarks = (labels: Labels): string[] =>
  Object.entries(labels).flatMap(([key, value]) => [markOf({ key, value: null }), markOf({ key, value })])

/** The text by which a term is looked up. Keys don’t contain `=`. */
export const markOf = ({ key, value }: Pick<SelectorTerm, 'key' | 'value'>): string => (value === null ? key : `${key}=${value}`)
