import { numberOf, tlsVersionOf, wholeOf } from './numbers'
import type { Operand } from './operand'
import { Several } from './several'
import { textOf, type Value } from './values'

export type Operator = '==' | '!=' | '<' | '<=' | '>' | '>='

/**
 * Whether a comparison holds. With something that is not there none does, but `!=`, which is always the opposite of `==`. Numbers are
 * compared as numbers where both sides are: a text that only looks like one, but for whole numbers, is a text beside `==`.
 */
export function compare(left: Operand, one: Value, operator: Operator, right: Operand, other: Value): boolean {
  const isVersion = [left, right].some(isTlsVersion)
  const relation = operator === '==' || operator === '!=' ? equal : orders[operator]
  const beside = eachOf(right, other)
  const holds = eachOf(left, one).some(value => beside.some(each => relation(value, each, isVersion)))
  return holds !== (operator === '!=')
}

const isTlsVersion = (operand: Operand): boolean =>
  operand.kind === 'source' && operand.source === 'TLS_VERSION' && operand.apply === null

/** The values of which one must do, or the pattern to which one must fit. Nothing, where there is no value. */
function eachOf(operand: Operand, value: Value): readonly unknown[] {
  switch (operand.kind) {
    case 'literal':
      return [operand.value]
    case 'any':
      return operand.values
    case 'pattern':
      return [operand]
    case 'source':
      if (value instanceof Several) return value.values
      return value === undefined ? [] : [value]
  }
}

type Relation = (one: unknown, other: unknown, isVersion: boolean) => boolean

const ordered =
  (holds: (one: number, other: number) => boolean): Relation =>
  (one, other, isVersion) => {
    const [low, high] = [amountOf(one, isVersion), amountOf(other, isVersion)]
    return low !== null && high !== null && holds(low, high)
  }

const orders: Record<Exclude<Operator, '==' | '!='>, Relation> = {
  '<': ordered((one, other) => one < other),
  '<=': ordered((one, other) => one <= other),
  '>': ordered((one, other) => one > other),
  '>=': ordered((one, other) => one >= other),
}

function amountOf(value: unknown, isVersion: boolean): number | null {
  if (typeof value === 'number') return value
  const text = textOf(value).trim()
  return isVersion ? tlsVersionOf(text) : numberOf(text)
}

const equal: Relation = (one, other, isVersion) => {
  if (isPattern(one)) return !isPattern(other) && one.regex.foundIn(textOf(other))
  if (isPattern(other)) return other.regex.foundIn(textOf(one))
  const [text, beside] = [textOf(one), textOf(other)]
  if (text === beside) return true
  const read = isVersion ? tlsVersionOf : typeof one === 'number' || typeof other === 'number' ? numberOf : wholeOf
  const number = read(text)
  return number !== null && number === read(beside)
}

const isPattern = (value: unknown): value is Operand & { kind: 'pattern' } =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'pattern' && 'regex' in value
