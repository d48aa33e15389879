import { parseCondition } from '../../../checks/conditions/condition'
import { conditionsOf, conditionText, type ConditionForm, type Expectation } from '../../../checks/conditions/form'
import { InvalidCondition } from '../../../checks/conditions/invalid-condition'
import { invalid, type FieldProblem } from '../../../core/problem'
import type { MonitorType } from './types'
import { maxConditions } from '../shapes'

/**
 * Conditions as the strings they are stored as, whichever form each was given in.
 * @param member `down_if` or `degraded_if`
 * @throws Problem 422 for each condition that is invalid or uses a placeholder the type doesn't have
 */
export function parsedConditions(type: MonitorType, member: string, input: readonly (string | ConditionForm)[]): string[] {
  const problems: FieldProblem[] = []
  const texts = input.flatMap((one, place) => {
    const text = read(type, one)
    if (typeof text === 'string') return [text]
    problems.push({ pointer: `#/${member}/${place}`, code: 'condition', detail: text.message })
    return []
  })
  if (problems.length > 0) throw invalid(problems)
  return texts
}

/**
 * Appends the conditions for `keyword` and `json_query`, which are named as in Uptime Kuma, to the given conditions.
 * @throws Problem 422
 */
export function withExpectation(type: MonitorType, input: readonly (string | ConditionForm)[], expected: Expectation): string[] {
  const member = expected.json_query ? 'json_query' : 'keyword'
  try {
    const more = conditionsOf(expected)
    for (const one of more) parseCondition(one, type.sources)
    const all = [...parsedConditions(type, 'down_if', input), ...more]
    if (all.length <= maxConditions) return all
  } catch (error) {
    if (!(error instanceof InvalidCondition)) throw error
    // The position is one in the condition, which the user didn't write.
    throw invalid([{ pointer: `#/${member}`, code: 'condition', detail: `${error.rule}.` }])
  }
  throw invalid([
    {
      pointer: `#/${member}`,
      code: 'too_many',
      detail: `adds a condition to \`down_if\`, which would then have more than ${maxConditions}.`,
    },
  ])
}

function read(type: MonitorType, one: string | ConditionForm): string | InvalidCondition {
  try {
    const text = conditionText(one)
    parseCondition(text, type.sources)
    return text
  } catch (error) {
    if (error instanceof InvalidCondition) return error
    throw error
  }
}
