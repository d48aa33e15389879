import { serverNumbers, serverSources, truths, type ConditionSource, type Facts } from '../check'
import { compare, type Operator } from './compare'
import { parseTlsVersion, parseNumber } from './numbers'
import { fail, readSource, readValue, type Operand, type Reader } from './operand'
import { sentenceOf } from './sentence'
import { describeOperand, evaluationContext, type EvaluationContext } from './values'

/** Maximum length of a condition, in characters. */
export const maxConditionLength = 500

/** A parsed condition. */
interface Condition {
  /** The source text. */
  text: string
  /** The sources it uses. */
  sources: readonly ConditionSource[]
  negated: boolean
  operator: Operator
  left: Operand
  right: Operand
}

/** The result of evaluating a condition. */
interface ConditionResult {
  holds: boolean
  /** The condition with the observed values, in one line: `[STATUS] (500) == 200`. Missing values are `(INVALID)`. */
  found: string
  /** A condition that holds as a sentence, for messages. */
  sentence: string
}

/**
 * Parses a condition in the syntax of Gatus: `[STATUS] == any(200, 204)`, `len([BODY].items) > 0`, `[CERTIFICATE_EXPIRATION] < 48h`.
 * A leading `not` negates it.
 * @param from sources that the check type provides; all if omitted
 * @throws InvalidCondition
 */
export function parseCondition(text: string, from?: readonly ConditionSource[]): Condition {
  const reader: Reader = { text, at: /^\s*/.exec(text)![0].length }
  if (text.length > maxConditionLength) fail(reader, `must be at most ${maxConditionLength} characters long`)
  const control = text.search(/\p{Cc}/u)
  if (control >= 0) fail(reader, 'must not contain control characters', control)
  const [not] = /^not\s+/i.exec(text.slice(reader.at)) ?? []
  reader.at += not?.length ?? 0
  const left = readLeft(reader)
  const operator = readOperator(reader)
  const right = readRight(reader)
  const condition = { text, sources: sourcesOf(left, right), negated: not !== undefined, operator, left, right }
  validateOperands(reader, condition, from)
  return condition
}

/** @param now ms UTC, for ages and expiries */
export const evaluate = (condition: Condition, facts: Facts, { now }: { now: number }): ConditionResult =>
  evaluateIn(condition, evaluationContext(facts, now))

/** Like `evaluate`, for several conditions on the same facts: the body is parsed once, and each path is followed once. @throws TooExpensive */
export function evaluateIn({ left, right, operator, negated }: Condition, scope: EvaluationContext): ConditionResult {
  const [leftValue, rightValue] = [scope.valueOf(left), scope.valueOf(right)]
  // Nothing is concluded from what a server does not measure now.
  const isKnown = !isUnmeasured(left, leftValue) && !isUnmeasured(right, rightValue)
  const holds = isKnown && compare(left, leftValue, operator, right, rightValue, scope.budget) !== negated
  return {
    holds,
    get found() {
      const sides = `${describeOperand(left, leftValue, scope.redact)} ${operator} ${describeOperand(right, rightValue, scope.redact)}`
      return negated ? `not ${sides}` : sides
    },
    get sentence() {
      return sentenceOf({ left, leftValue, operator, negated, right, rightValue }, scope.redact)
    },
  }
}

const isUnmeasured = (operand: Operand, value: unknown): boolean =>
  value === undefined && operand.kind === 'source' && (serverSources as readonly ConditionSource[]).includes(operand.source)

const operators: readonly Operator[] = ['==', '!=', '<=', '>=', '<', '>']

function readLeft(reader: Reader): Operand {
  const source = readSource(reader)
  if (source) return source
  const rest = reader.text.slice(reader.at)
  const [quoted] = /^"(?:[^"\\]|\\.)*"/.exec(rest) ?? []
  const end =
    quoted?.length ?? rest.search(/^(?:any|pat|regex)\(/.test(rest) ? /(?<=\)\s*)\s(?:[=!]=)\s/ : /\s+(?:[=!<>]=|[<>])(?:\s|$)/)
  if (end <= 0) fail(reader, `must be a comparison such as [STATUS] == 200, using one of ${operators.join(' ')}`)
  const value = readValue(rest.slice(0, end).trim(), reader.at)
  reader.at += end
  return value
}

function readOperator(reader: Reader): Operator {
  reader.at += /^\s*/.exec(reader.text.slice(reader.at))![0].length
  const operator = operators.find(one => reader.text.startsWith(one, reader.at))
  if (!operator && reader.text[reader.at] === '=') return fail(reader, 'must use == to compare, not =')
  if (!operator) return fail(reader, `must have one of the operators ${operators.join(' ')}`)
  reader.at += operator.length
  return operator
}

function readRight(reader: Reader): Operand {
  reader.at += /^\s*/.exec(reader.text.slice(reader.at))![0].length
  const rest = reader.text.slice(reader.at).trimEnd()
  if (rest === '') fail(reader, 'must have a value to compare with; write "" for empty text')
  const source = readSource(reader)
  if (!source) return readValue(rest, reader.at)
  if (reader.text.slice(reader.at).trim() !== '') fail(reader, 'must have nothing after the second value')
  return source
}

const sourcesOf = (...operands: Operand[]): ConditionSource[] => [
  ...new Set(operands.flatMap(one => (one.kind === 'source' ? [one.source] : []))),
]

/** Sources that are always numbers. */
const numeric: readonly ConditionSource[] = [
  ...(['STATUS', 'RESPONSE_TIME', 'TTFB', 'CERTIFICATE_EXPIRATION', 'DOMAIN_EXPIRATION'] as const),
  ...serverNumbers,
  'PROCESS',
]

function validateOperands(
  reader: Reader,
  { left, right, operator, sources }: Condition,
  from?: readonly ConditionSource[],
): void {
  if (sources.length === 0) fail(reader, 'must use a source such as [STATUS]', 0)
  const unsupported = sources.find(source => from && !from.includes(source))
  if (unsupported)
    fail(reader, `must not use [${unsupported}]: this check type provides ${from!.map(one => `[${one}]`).join(' ')}`, 0)
  for (const [one, other] of [
    [left, right],
    [right, left],
  ] as const) {
    if (one.kind !== 'source' && one.kind !== 'literal' && operator !== '==' && operator !== '!=')
      fail(reader, `must use == or != with ${one.text.slice(0, one.text.indexOf('('))}()`, 0)
    if ((one.kind !== 'literal' && one.kind !== 'any') || other.kind !== 'source') continue
    const values = one.kind === 'any' ? one.values : [one.value]
    const isTruth = values.every(value => value === 'true' || value === 'false')
    if (other.apply === 'has' && !isTruth) fail(reader, 'must compare has() with true or false', 0)
    if (other.apply === null && truths.some(source => source === other.source) && !isTruth)
      fail(reader, `must compare [${other.source}] with true or false`, 0)
    const isOrdered = operator !== '==' && operator !== '!='
    const isVersion = other.source === 'TLS_VERSION' && other.apply === null
    const isNumber = other.apply === null ? numeric.includes(other.source) : other.apply !== 'has'
    if ((isOrdered || isVersion || isNumber) && values.some(value => (isVersion ? parseTlsVersion : parseNumber)(value) === null))
      fail(
        reader,
        isOrdered
          ? `must use a number, a duration such as 48h or a size such as 10KiB with ${operator}`
          : `must compare ${other.text} with ${isVersion ? 'a version such as 1.3' : 'a number'}`,
        reader.text.lastIndexOf(one.text),
      )
  }
}
