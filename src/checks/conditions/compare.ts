import { parseNumber, parseTlsVersion, parseWhole } from './numbers'
import type { EvaluationBudget } from './budget'
import type { Operand } from './operand'
import { MultiValue } from './multi-value'
import { textOf, type Value } from './values'

export type Operator = '==' | '!=' | '<' | '<=' | '>' | '>='

/**
 * Whether a comparison holds. None holds for missing values, except `!=`, which is always the opposite of `==`. Numbers are compared
 * numerically if both sides are numbers. With `==`, text that looks like a number is text, unless it is a whole number.
 * @throws TooExpensive
 */
export function compare(
  left: Operand,
  leftValue: Value,
  operator: Operator,
  right: Operand,
  rightValue: Value,
  budget: EvaluationBudget,
): boolean {
  const isVersion = [left, right].some(isTlsVersion)
  const relation = operator === '==' || operator === '!=' ? equal : orders[operator]
  const candidates = candidatesOf(right, rightValue)
  const isRelated = (value: unknown, candidate: unknown) => {
    if (typeof value === 'object' || typeof candidate === 'object') budget.check()
    else budget.step()
    return relation(value, candidate, isVersion, budget.check)
  }
  const holds = candidatesOf(left, leftValue).some(value => candidates.some(candidate => isRelated(value, candidate)))
  return holds !== (operator === '!=')
}

const isTlsVersion = (operand: Operand): boolean =>
  operand.kind === 'source' && operand.source === 'TLS_VERSION' && operand.apply === null

/** The candidate values or the pattern; one must match. Empty if there is no value. */
function candidatesOf(operand: Operand, value: Value): readonly unknown[] {
  switch (operand.kind) {
    case 'literal':
      return [operand.value]
    case 'any':
      return operand.values
    case 'pattern':
      return [operand]
    case 'source':
      if (value instanceof MultiValue) return value.values
      return value === undefined ? [] : [value]
  }
}

type Relation = (left: unknown, right: unknown, isVersion: boolean, check: () => void) => boolean

const ordered =
  (holds: (left: number, right: number) => boolean): Relation =>
  (left, right, isVersion) => {
    const [low, high] = [amountOf(left, isVersion), amountOf(right, isVersion)]
    return low !== null && high !== null && holds(low, high)
  }

const orders: Record<Exclude<Operator, '==' | '!='>, Relation> = {
  '<': ordered((left, right) => left < right),
  '<=': ordered((left, right) => left <= right),
  '>': ordered((left, right) => left > right),
  '>=': ordered((left, right) => left >= right),
}

function amountOf(value: unknown, isVersion: boolean): number | null {
  if (typeof value === 'number') return value
  const text = textOf(value).trim()
  return isVersion ? parseTlsVersion(text) : parseNumber(text)
}

const equal: Relation = (left, right, isVersion, check) => {
  if (isPattern(left)) return !isPattern(right) && left.regex.test(textOf(right), check)
  if (isPattern(right)) return right.regex.test(textOf(left), check)
  const [leftText, rightText] = [textOf(left), textOf(right)]
  if (leftText === rightText) return true
  const parse = isVersion ? parseTlsVersion : typeof left === 'number' || typeof right === 'number' ? parseNumber : parseWhole
  const number = parse(leftText)
  return number !== null && number === parse(rightText)
}

const isPattern = (value: unknown): value is Operand & { kind: 'pattern' } =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'pattern' && 'regex' in value
