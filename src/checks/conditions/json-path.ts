import { query, type JsonValue } from 'jsonpath-rfc9535'
import parse, { type JsonPathQuery } from 'jsonpath-rfc9535/parser'
import { ConditionRefused } from './refused'
import { Several } from './several'

/** What a path leads to: undefined for nothing, the value, or `Several` of a path that may lead to more than one. */
export type JsonPath = (value: unknown) => unknown

const longestPath = 200
// Of calls in calls that do not end the parser tries all ways: each more takes it five times as long.
const mostCalls = 3
const mostFilters = 3
const mostSelectors = 8
// Parts of a path that do not bound what they visit, or how long that takes, by the size of the document.
const refusedFunctions = ['match', 'search']

/**
 * Reads a path of RFC 9535. Refused is what can take far longer than reading the document: more than one `..`, more than one list of
 * selectors or more than 8 in it, `match()` and `search()`, and within a filter anything but names and indexes; and, before it is
 * parsed, what can take far longer to parse: more than 3 filters or parentheses.
 * @param text with the `$`
 * @param position for the refusal
 * @throws ConditionRefused
 */
export function jsonPathOf(text: string, position: number): JsonPath {
  const refuse = (rule: string): never => {
    throw new ConditionRefused(rule, position)
  }
  if (text.length > longestPath) refuse(`must have at most ${longestPath} characters in a path`)
  if (text.split('(').length > mostCalls + 1 || text.split('[?').length > mostFilters + 1)
    refuse(`must have at most ${mostFilters} filters and ${mostCalls} parentheses in a path`)
  const tree = treeOf(text, position)
  if (tree.segments.filter(segment => segment.type === 'DescendantSegment').length > 1)
    refuse('must have .. at most once in a path')
  const lists = tree.segments.flatMap(({ node }) =>
    node.type === 'BracketedSelection' && node.selectors.length > 1 ? [node.selectors.length] : [],
  )
  if (lists.length > 1 || lists.some(length => length > mostSelectors))
    refuse(`must have at most one list of selectors in a path, of at most ${mostSelectors}`)
  for (const part of partsOf(tree.segments.flatMap(({ node }) => (node.type === 'BracketedSelection' ? node.selectors : [])))) {
    if (part.type === 'FunctionExpr' && refusedFunctions.includes(String(part.name)))
      refuse('must not have match() or search() in a path: regex() on its value is there for that')
    if (part.type === 'FilterSelector' && [...partsOf(part.value)].some(isWide))
      refuse('must have only names and indexes in the filter of a path')
  }
  const steps = stepsOf(tree)
  if (steps) return value => steps.reduce(stepInto, value)
  return value => {
    if (value === undefined) return undefined
    const found = query(value as JsonValue, text)
    return found.length === 0 ? undefined : new Several(found)
  }
}

function treeOf(text: string, position: number): JsonPathQuery {
  try {
    return parse(text)
  } catch {
    throw new ConditionRefused('must have a path as RFC 9535 writes it, such as [BODY].items[0].name', position)
  }
}

type Part = Record<string, unknown> & { type: string }

/** All nodes of a tree, whatever members hold them. */
function* partsOf(from: unknown): Generator<Part> {
  if (typeof from !== 'object' || from === null) return
  if (typeof (from as Part).type === 'string') yield from as Part
  for (const member of Object.values(from)) yield* partsOf(member)
}

const isWide = (part: Part): boolean =>
  ['DescendantSegment', 'WildcardSelector', 'SliceSelector', 'FilterSelector'].includes(part.type) ||
  (part.type === 'BracketedSelection' && (part.selectors as unknown[]).length > 1)

/** Names and indexes of a path that leads to one value at most (singular, RFC 9535 section 2.3.5.1), or null. */
function stepsOf(tree: JsonPathQuery): (string | number)[] | null {
  const steps: (string | number)[] = []
  for (const { type, node } of tree.segments) {
    const [one, other] = node.type === 'BracketedSelection' ? node.selectors : [node]
    const isStep = one?.type === 'NameSelector' || one?.type === 'IndexSelector' || one?.type === 'MemberNameShorthand'
    if (type !== 'ChildSegment' || !isStep || other) return null
    steps.push(one.value)
  }
  return steps
}

function stepInto(value: unknown, step: string | number): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if (typeof step === 'number') return Array.isArray(value) ? value.at(step) : undefined
  return !Array.isArray(value) && Object.hasOwn(value, step) ? (value as Record<string, unknown>)[step] : undefined
}
