import { parseCondition } from '../../checks/conditions/condition'
import { conditionsOf, conditionText, type ConditionForm, type Expectation } from '../../checks/conditions/form'
import { ConditionRefused } from '../../checks/conditions/refused'
import { invalid, type FieldProblem } from '../../core/problem'
import type { MonitorType } from './monitor-types'
import { mostConditions } from './shapes'

/**
 * Conditions as the texts in which they are kept, whichever way each was given.
 * @param member `down_if` or `degraded_if`
 * @throws Problem 422 at each that cannot be read, or asks for what the type does not tell
 */
export function conditionsRead(type: MonitorType, member: string, given: readonly (string | ConditionForm)[]): string[] {
  const problems: FieldProblem[] = []
  const texts = given.flatMap((one, place) => {
    const text = read(type, one)
    if (typeof text === 'string') return [text]
    problems.push({ pointer: `#/${member}/${place}`, code: 'condition', detail: text.message })
    return []
  })
  if (problems.length > 0) throw invalid(problems)
  return texts
}

/**
 * What makes a check fail by the members that Uptime Kuma has for it, behind the conditions that were given.
 * @throws Problem 422
 */
export function withExpectation(type: MonitorType, given: readonly (string | ConditionForm)[], expected: Expectation): string[] {
  const member = expected.json_query ? 'json_query' : 'keyword'
  try {
    const more = conditionsOf(expected)
    for (const one of more) parseCondition(one, type.sources)
    const all = [...conditionsRead(type, 'down_if', given), ...more]
    if (all.length <= mostConditions) return all
  } catch (error) {
    if (!(error instanceof ConditionRefused)) throw error
    throw invalid([{ pointer: `#/${member}`, code: 'condition', detail: error.message }])
  }
  throw invalid([
    { pointer: `#/${member}`, code: 'too_many', detail: `is one condition too many: there are ${mostConditions} at most.` },
  ])
}

function read(type: MonitorType, one: string | ConditionForm): string | ConditionRefused {
  try {
    const text = conditionText(one)
    parseCondition(text, type.sources)
    return text
  } catch (error) {
    if (error instanceof ConditionRefused) return error
    throw error
  }
}
