import type { CheckError, CheckSpec, Facts, FailedCondition, ResultStatus } from '../check'
import { TooExpensive } from './budget'
import { evaluateIn, parseCondition } from './condition'
import { evaluationContext } from './values'
import type { Redact } from '../redaction'

/** The outcome of one run. */
export interface Evaluation {
  status: ResultStatus
  /** Why the status is not `up`. */
  error: CheckError | null
  conditions: FailedCondition[]
}

/**
 * @param now ms UTC
 * @param redact removes secrets from values for display, before they are cut: no part of a secret may remain
 * @param domainExpiresAt when the registration of the target’s domain ends (ms UTC); absent or null if it is not known
 */
export type Evaluator = (facts: Facts, options: { now: number; redact?: Redact; domainExpiresAt?: number | null }) => Evaluation

// Shared: results are sent in batches of hundreds.
const none: FailedCondition[] = []

type ConditionSpec = Pick<CheckSpec, 'down_if' | 'degraded_if' | 'degraded_ms'>

/**
 * Parses the conditions of a monitor once, to evaluate each of its runs. A failure by the type's own rules is `down`, and the conditions
 * are not evaluated. Otherwise any of `down_if` makes it `down`, and any of `degraded_if` or exceeding `degraded_ms` makes it `degraded`.
 * If the conditions cost too much to evaluate, the rest of them is skipped, and it is at least `degraded`.
 * @throws InvalidCondition
 */
export function createEvaluator(spec: ConditionSpec): Evaluator {
  const levels = (['down', 'degraded'] as const)
    .map(level => ({ level, conditions: spec[`${level}_if`].map(text => parseCondition(text)) }))
    .filter(one => one.conditions.length > 0)
  return (facts, { now, redact, domainExpiresAt }) => {
    if (facts.error) return { status: 'down', error: facts.error, conditions: none }
    const scope = evaluationContext(facts, now, redact, domainExpiresAt)
    const failed: FailedCondition[] = []
    let sentence = ''
    let skipped: CheckError | null = null
    try {
      for (const { level, conditions } of levels)
        for (const [index, condition] of conditions.entries()) {
          const result = evaluateIn(condition, scope)
          if (!result.holds) continue
          if (failed.length === 0) sentence = result.sentence
          failed.push({ level, index, condition: condition.text, found: result.found })
        }
    } catch (error) {
      skipped = { kind: 'condition', message: `A condition ${costOf(error)}. Conditions after it were not evaluated.` }
    }
    const reason = skipped ?? slowError(facts, spec.degraded_ms)
    const [worst] = failed
    if (!worst) return { status: reason ? 'degraded' : 'up', error: reason, conditions: none }
    // Conditions of `down_if` take precedence over `degraded_if`.
    const others = failed.filter(one => one.level === worst.level).length - 1
    const message = others === 0 ? sentence : `${sentence}, and ${others} more condition${others === 1 ? '' : 's'}`
    return { status: worst.level, error: { kind: 'condition', message }, conditions: failed }
  }
}

/** Evaluates a single run. @throws InvalidCondition */
export const evaluateRun = (spec: ConditionSpec, ...args: Parameters<Evaluator>): Evaluation => createEvaluator(spec)(...args)

/** Why a condition could not be evaluated. */
function costOf(error: unknown): string {
  if (error instanceof TooExpensive) return error.message
  if (error instanceof RangeError) return 'compares a value that is nested too deeply'
  throw error
}

function slowError({ phases }: Facts, max: number | null): CheckError | null {
  if (max === null || phases.total === null || phases.total <= max) return null
  return { kind: 'condition', message: `Response took ${Math.round(phases.total)} ms, more than ${max} ms` }
}
