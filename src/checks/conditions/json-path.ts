import { query, type JsonValue } from 'jsonpath-rfc9535'
import parse, { type JsonPathQuery } from 'jsonpath-rfc9535/parser'
import { TooExpensive } from './budget'
import { InvalidCondition } from './invalid-condition'
import { MultiValue } from './multi-value'

/** Follows a path: undefined if it leads nowhere, the value, or a `MultiValue` if the path may lead to more than one. May throw TooExpensive. */
export type JsonPath = (value: unknown) => unknown

const maxPathLength = 200
// Following a path with several results through this many takes about 50 ms.
const maxBodyValues = 50_000
// The parser backtracks on unclosed nested calls: each level takes it five times as long.
const maxCalls = 3
const maxFilters = 3
const maxSelectors = 8
// Functions whose cost is not bounded by the size of the document.
const forbiddenFunctions = ['match', 'search']

/**
 * Parses a JSONPath (RFC 9535). Rejects paths that can take far longer than reading the document: more than one `..`, more than one
 * list of selectors or more than 8 in it, `match()` and `search()`, and anything but names and indexes inside a filter. Rejects before
 * parsing what can take far longer to parse: more than 3 filters or parentheses.
 * @param text with the `$`
 * @param position for the error
 * @throws InvalidCondition
 */
export function jsonPathOf(text: string, position: number): JsonPath {
  const reject = (rule: string): never => {
    throw new InvalidCondition(rule, position)
  }
  if (text.length > maxPathLength) reject(`must have a path of at most ${maxPathLength} characters`)
  if (text.split('(').length > maxCalls + 1 || text.split('[?').length > maxFilters + 1)
    reject(`must have at most ${maxFilters} filters and ${maxCalls} parentheses in a path`)
  const tree = treeOf(text, position)
  if (tree.segments.filter(segment => segment.type === 'DescendantSegment').length > 1)
    reject('must use .. at most once in a path')
  const lists = tree.segments.flatMap(({ node }) =>
    node.type === 'BracketedSelection' && node.selectors.length > 1 ? [node.selectors.length] : [],
  )
  if (lists.length > 1 || lists.some(length => length > maxSelectors))
    reject(`must have at most one list of selectors in a path, with at most ${maxSelectors} selectors`)
  for (const part of partsOf(tree.segments.flatMap(({ node }) => (node.type === 'BracketedSelection' ? node.selectors : [])))) {
    if (part.type === 'FunctionExpr' && forbiddenFunctions.includes(String(part.name)))
      reject('must not use match() or search() in a path; use regex() on the value')
    if (part.type === 'FilterSelector' && [...partsOf(part.value)].some(isWide))
      reject('must use only names and indexes in the filter of a path')
  }
  const steps = stepsOf(tree)
  if (steps) return value => steps.reduce(stepInto, value)
  return value => {
    if (value === undefined) return undefined
    if (isLarge(value))
      throw new TooExpensive(
        `has a path with several results in a body of more than ${maxBodyValues.toLocaleString('en-US')} values`,
      )
    const found = query(value as JsonValue, text)
    return found.length === 0 ? undefined : new MultiValue(found)
  }
}

/** Whether a parsed JSON text has too many values to search all of them. */
function isLarge(value: unknown): boolean {
  const rest = [value]
  let count = 0
  while (rest.length > 0) {
    const one = rest.pop()
    if (typeof one !== 'object' || one === null) continue
    if (Array.isArray(one) && one.length > maxBodyValues) return true
    for (const member of Object.values(one)) {
      if (++count > maxBodyValues) return true
      rest.push(member)
    }
  }
  return false
}

function treeOf(text: string, position: number): JsonPathQuery {
  try {
    return parse(text)
  } catch {
    throw new InvalidCondition('must have a valid JSONPath (RFC 9535), such as [BODY].items[0].name', position)
  }
}

type Part = Record<string, unknown> & { type: string }

/** All nodes of a syntax tree, at any depth. */
function* partsOf(from: unknown): Generator<Part> {
  if (typeof from !== 'object' || from === null) return
  if (typeof (from as Part).type === 'string') yield from as Part
  for (const member of Object.values(from)) yield* partsOf(member)
}

const isWide = (part: Part): boolean =>
  ['DescendantSegment', 'WildcardSelector', 'SliceSelector', 'FilterSelector'].includes(part.type) ||
  (part.type === 'BracketedSelection' && (part.selectors as unknown[]).length > 1)

/** The names and indexes of a path that leads to at most one value (singular, RFC 9535 section 2.3.5.1); null for others. */
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
