import type { ConditionSource, Facts } from '../check'
import { compare, type Operator } from './compare'
import { tlsVersionOf, numberOf } from './numbers'
import { readSource, readValue, refuse, type Operand, type Reader } from './operand'
import { lookAt, shown, type Look } from './values'

/** Characters of a condition at most. */
export const longestCondition = 500

/** A condition that was read once, to be held against what checks see. */
export interface Condition {
  /** As it was given. */
  text: string
  /** What it asks for. */
  sources: readonly ConditionSource[]
  negated: boolean
  operator: Operator
  left: Operand
  right: Operand
}

/** What a condition came to. */
export interface Verdict {
  holds: boolean
  /** The condition with the values that were found, in one line: `[STATUS] (500) == 200`. What is not there is `(INVALID)`. */
  found: string
}

/**
 * Reads a condition in the language of Gatus: `[STATUS] == any(200, 204)`, `len([BODY].items) > 0`, `[CERTIFICATE_EXPIRATION] < 48h`;
 * `not` before one turns it around.
 * @param from sources that the type of check tells; all of them when left out
 * @throws ConditionRefused
 */
export function parseCondition(text: string, from?: readonly ConditionSource[]): Condition {
  const reader: Reader = { text, at: /^\s*/.exec(text)![0].length }
  if (text.length > longestCondition) refuse(reader, `must have at most ${longestCondition} characters`)
  const control = text.search(/\p{Cc}/u)
  if (control >= 0) refuse(reader, 'must have no control characters', control)
  const [not] = /^not\s+/i.exec(text.slice(reader.at)) ?? []
  reader.at += not?.length ?? 0
  const left = readLeft(reader)
  const operator = readOperator(reader)
  const right = readRight(reader)
  const condition = { text, sources: sourcesOf(left, right), negated: not !== undefined, operator, left, right }
  refuseSenseless(reader, condition, from)
  return condition
}

/** @param now ms UTC, for what is counted from it */
export const evaluate = (condition: Condition, facts: Facts, { now }: { now: number }): Verdict =>
  evaluateIn(condition, lookAt(facts, now))

/** As `evaluate`, for several conditions that look at the same facts: the body is parsed once for all of them. */
export function evaluateIn({ left, right, operator, negated }: Condition, look: Look): Verdict {
  const [one, other] = [look.valueOf(left), look.valueOf(right)]
  const holds = compare(left, one, operator, right, other) !== negated
  return {
    holds,
    get found() {
      const sides = `${shown(left, one, look.hide)} ${operator} ${shown(right, other, look.hide)}`
      return negated ? `not ${sides}` : sides
    },
  }
}

const operators: readonly Operator[] = ['==', '!=', '<=', '>=', '<', '>']

function readLeft(reader: Reader): Operand {
  const source = readSource(reader)
  if (source) return source
  const rest = reader.text.slice(reader.at)
  const [quoted] = /^"(?:[^"\\]|\\.)*"/.exec(rest) ?? []
  const end =
    quoted?.length ?? rest.search(/^(?:any|pat|regex)\(/.test(rest) ? /(?<=\)\s*)\s(?:[=!]=)\s/ : /\s+(?:[=!<>]=|[<>])(?:\s|$)/)
  if (end <= 0) refuse(reader, `must be a comparison such as [STATUS] == 200, with one of ${operators.join(' ')}`)
  const value = readValue(rest.slice(0, end).trim(), reader.at)
  reader.at += end
  return value
}

function readOperator(reader: Reader): Operator {
  reader.at += /^\s*/.exec(reader.text.slice(reader.at))![0].length
  const operator = operators.find(one => reader.text.startsWith(one, reader.at))
  if (!operator) return refuse(reader, `must have one of ${operators.join(' ')} here`)
  reader.at += operator.length
  return operator
}

function readRight(reader: Reader): Operand {
  reader.at += /^\s*/.exec(reader.text.slice(reader.at))![0].length
  const rest = reader.text.slice(reader.at).trimEnd()
  if (rest === '') refuse(reader, 'must have something to compare with; an empty text is ""')
  const source = readSource(reader)
  if (!source) return readValue(rest, reader.at)
  if (reader.text.slice(reader.at).trim() !== '') refuse(reader, 'must end here')
  return source
}

const sourcesOf = (...operands: Operand[]): ConditionSource[] => [
  ...new Set(operands.flatMap(one => (one.kind === 'source' ? [one.source] : []))),
]

/** Sources that are numbers whenever they are anything. */
const numeric: readonly ConditionSource[] = ['STATUS', 'RESPONSE_TIME', 'TTFB', 'CERTIFICATE_EXPIRATION', 'DOMAIN_EXPIRATION']

function refuseSenseless(reader: Reader, { left, right, operator, sources }: Condition, from?: readonly ConditionSource[]): void {
  if (sources.length === 0) refuse(reader, 'must ask for something that the check sees, such as [STATUS]', 0)
  const foreign = sources.find(source => from && !from.includes(source))
  if (foreign)
    refuse(reader, `must not ask for [${foreign}]: this type of check tells ${from!.map(one => `[${one}]`).join(' ')}`, 0)
  for (const [one, other] of [
    [left, right],
    [right, left],
  ] as const) {
    if (one.kind !== 'source' && one.kind !== 'literal' && operator !== '==' && operator !== '!=')
      refuse(reader, `must have == or != beside ${one.text.slice(0, one.text.indexOf('('))}()`, 0)
    if ((one.kind !== 'literal' && one.kind !== 'any') || other.kind !== 'source') continue
    const values = one.kind === 'any' ? one.values : [one.value]
    const isTruth = values.every(value => value === 'true' || value === 'false')
    if (other.apply === 'has' && !isTruth) refuse(reader, 'must compare has() with true or false', 0)
    if (other.apply === null && other.source === 'CONNECTED' && !isTruth)
      refuse(reader, 'must compare [CONNECTED] with true or false', 0)
    const isOrdered = operator !== '==' && operator !== '!='
    const isVersion = other.source === 'TLS_VERSION' && other.apply === null
    const isNumber = other.apply === null ? numeric.includes(other.source) : other.apply !== 'has'
    if ((isOrdered || isVersion || isNumber) && values.some(value => (isVersion ? tlsVersionOf : numberOf)(value) === null))
      refuse(
        reader,
        isOrdered
          ? `must have a number, a duration such as 48h or a size such as 10KiB beside ${operator}`
          : `must have ${isVersion ? 'a version such as 1.3' : 'a number'} beside ${other.text}`,
        reader.text.lastIndexOf(one.text),
      )
  }
}
