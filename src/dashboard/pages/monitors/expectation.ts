import type { Values } from '../../parts/form'
import { isSame } from '../../parts/values'

// What an HTTP response must contain, as plain fields. The API stores it as conditions in `down_if`, and returns it as those.

const operators = ['==', '!=', '<', '<=', '>', '>=', 'contains'] as const

const words: Record<(typeof operators)[number], string> = {
  '==': 'equals',
  '!=': 'does not equal',
  '<': 'is less than',
  '<=': 'is at most',
  '>': 'is greater than',
  '>=': 'is at least',
  contains: 'contains',
}
export const operatorLabels = operators.map(one => [one, words[one]] as const)

const noExpectation: Values = {
  keyword: '',
  keyword_rule: 'present',
  'json_query.path': '',
  'json_query.op': '==',
  'json_query.expected': '',
}

/** Form values for the conditions of a monitor: those that the fields for the response can represent, and the rest. */
export function expectationOf(conditions: readonly string[]): Values {
  const found: Values = { ...noExpectation }
  const rest = conditions.filter(condition => {
    const keyword = found.keyword === '' && keywordIn(condition)
    if (keyword) {
      Object.assign(found, keyword)
      return false
    }
    const query = found['json_query.path'] === '' && queryIn(condition)
    if (query) Object.assign(found, query)
    return !query
  })
  return { ...found, down_if: rest }
}

/** The fields of a request that creates a monitor with the response that the form describes. */
export const expectationInput = (values: Values): Values => ({
  ...(values.keyword !== '' && { keyword: values.keyword, ...(isInverted(values) && { invert_keyword: true }) }),
  ...(hasQuery(values) && { json_query: queryOf(values) }),
})

/** All conditions of an edited monitor, or undefined if they are as before. */
export function changedConditions(before: Values, values: Values): unknown[] | undefined {
  const names = [...Object.keys(noExpectation), 'down_if']
  if (names.every(name => isSame(before[name], values[name]))) return undefined
  const query = queryOf(values)
  return [
    ...(values.down_if as string[]),
    ...(values.keyword === ''
      ? []
      : [{ source: 'BODY', op: 'contains', value: values.keyword, ...(!isInverted(values) && { not: true }) }]),
    ...(hasQuery(values) ? [{ source: 'BODY', path: query.path || null, op: query.op, value: query.expected, not: true }] : []),
  ]
}

const isInverted = (values: Values): boolean => values.keyword_rule === 'absent'
const hasQuery = (values: Values): boolean => values['json_query.path'] !== '' || values['json_query.expected'] !== ''
const queryOf = (values: Values) => ({
  path: values['json_query.path'],
  op: values['json_query.op'],
  expected: values['json_query.expected'],
})

/** `not [BODY] == pat(*Welcome*)` requires a text, and without `not` forbids it. */
function keywordIn(condition: string): Values | null {
  const [, not, pattern] = /^(not )?\[BODY\] == pat\(\*(.+)\*\)$/s.exec(condition) ?? []
  const keyword = pattern === undefined ? null : literalIn(pattern)
  return keyword === null ? null : { keyword, keyword_rule: not ? 'present' : 'absent' }
}

/** `not [BODY].status == UP` requires a value in JSON. Paths with spaces, such as filters, stay conditions. */
function queryIn(condition: string): Values | null {
  const [, path, op, value] = /^not \[BODY\]([.[]\S*) (==|!=|<=|>=|<|>) (.+)$/s.exec(condition) ?? []
  if (path === undefined || value === undefined) return null
  const [, pattern] = /^pat\(\*(.+)\*\)$/s.exec(value) ?? []
  const contained = pattern === undefined || op !== '==' ? null : literalIn(pattern)
  const expected = contained ?? plainValue(value)
  if (expected === null) return null
  return { 'json_query.path': `$${path}`, 'json_query.op': contained === null ? op : 'contains', 'json_query.expected': expected }
}

/** The text that a pattern matches literally; null if it has wildcards. */
const literalIn = (pattern: string): string | null =>
  /^(?:[^\\*?[]|\\[\\*?[])+$/s.test(pattern) ? pattern.replace(/\\(.)/gs, '$1') : null

/** A value without functions and placeholders. */
function plainValue(text: string): string | null {
  if (text.startsWith('"')) {
    try {
      const value: unknown = JSON.parse(text)
      return typeof value === 'string' ? value : null
    } catch {
      return null
    }
  }
  return /[()[\]]/.test(text) ? null : text
}
