import type { CheckError, CheckSpec, Facts, FailedCondition, ResultStatus } from '../check'
import { evaluateIn, parseCondition, type Condition } from './condition'
import { lookAt } from './values'

/** What one run of a check came to. */
export interface Judgement {
  status: ResultStatus
  /** Why it is not `up`. */
  error: CheckError | null
  conditions: FailedCondition[]
}

/**
 * @param now ms UTC
 * @param hide blots secrets out of what people are shown; it is asked before that is cut, so that no part of one is left
 */
export type Judge = (facts: Facts, given: { now: number; hide?: (text: string) => string }) => Judgement

// One for all: results travel by the hundred.
const none: FailedCondition[] = []

type Judged = Pick<CheckSpec, 'down_if' | 'degraded_if' | 'degraded_ms'>

/**
 * Reads the conditions of a monitor once, to judge each of its runs. What went wrong by the type's own rules is `down`, and its
 * conditions are not looked at. Else any of `down_if` makes it `down`, any of `degraded_if` or more than `degraded_ms` `degraded`.
 * @throws ConditionRefused
 */
export function judgeOf(spec: Judged): Judge {
  const levels = (['down', 'degraded'] as const)
    .map(level => ({ level, conditions: spec[`${level}_if`].map(text => parseCondition(text)) }))
    .filter(one => one.conditions.length > 0)
  return (facts, { now, hide }) => {
    if (facts.error) return { status: 'down', error: facts.error, conditions: none }
    const look = lookAt(facts, now, hide)
    const held = levels.flatMap(({ level, conditions }) =>
      conditions.flatMap((condition, index) => heldOf(condition, evaluateIn(condition, look), level, index)),
    )
    const slow = slowness(facts, spec.degraded_ms)
    const [worst] = held
    if (!worst) return { status: slow ? 'degraded' : 'up', error: slow, conditions: none }
    // A condition of `down_if` comes before one of `degraded_if`.
    return {
      status: worst.level,
      error: { kind: 'condition', message: messageOf(held.filter(one => one.level === worst.level)) },
      conditions: held,
    }
  }
}

/** The judgement of one run, for who judges but one. @throws ConditionRefused */
export const resultOf = (spec: Judged, ...given: Parameters<Judge>): Judgement => judgeOf(spec)(...given)

const heldOf = (
  condition: Condition,
  verdict: { holds: boolean; found: string },
  level: FailedCondition['level'],
  index: number,
): FailedCondition[] => (verdict.holds ? [{ level, index, condition: condition.text, found: verdict.found }] : [])

function messageOf([first, ...more]: FailedCondition[]): string {
  return more.length === 0 ? first!.found : `${first!.found}, and ${more.length} more`
}

function slowness({ phases }: Facts, most: number | null): CheckError | null {
  if (most === null || phases.total === null || phases.total <= most) return null
  return { kind: 'condition', message: `It took ${Math.round(phases.total)} ms, more than ${most} ms.` }
}
