import type { FieldProblem } from '../../../../core/problem'
import type { AgentReport } from '../../../../wire/agent'
import { isAgentPermission } from '../../../../wire/agent-permissions'
import { isNeverNegative } from '../../metrics/names'
import { maxAheadMs } from '../minutes'

/** Rules for the messages of agents that go beyond their shapes. */

/** Older minutes are not from a spool. */
const maxAgeMs = 90 * 86_400_000
const maxProblems = 20

/** What is wrong with the permissions of an agent. */
export const permissionProblems = (allow: readonly string[]): FieldProblem[] =>
  allow.flatMap((one, at) =>
    isAgentPermission(one)
      ? []
      : [{ pointer: `#/allow/${at}`, code: 'format', detail: 'must be a known permission, such as `reboot`.' }],
  )

/**
 * What is wrong with a report of the right shape. At most 20 problems.
 * @param offsetMs what has to be added to the times of minutes
 */
export function reportProblems(
  {
    allow,
    columns,
    minutes,
    moments = [],
    events = [],
  }: Pick<AgentReport, 'allow' | 'columns' | 'minutes' | 'moments' | 'events'>,
  offsetMs: number,
  now: number,
): FieldProblem[] {
  const problems = permissionProblems(allow)
  const add = (pointer: string, code: string, detail: string) => problems.push({ pointer: `#/${pointer}`, code, detail })
  const checkTime = (time: number, pointer: string) => {
    const filed = time + offsetMs
    if (filed > now + maxAheadMs) add(pointer, 'out_of_range', 'must not be in the future.')
    if (filed < now - maxAgeMs) add(pointer, 'out_of_range', 'must not be more than 90 days ago.')
  }
  for (const [name, news] of Object.entries({ moments, events }))
    for (const [at, one] of news.entries()) checkTime(one.at, `${name}/${at}/at`)
  const seen = new Set<string>()
  for (const [at, column] of columns.entries()) {
    if (seen.has(column)) add(`columns/${at}`, 'not_unique', 'must not be a column that the report has already.')
    seen.add(column)
  }
  for (const [at, [start, , ...lists]] of minutes.entries()) {
    if (problems.length >= maxProblems) break
    checkTime(start, `minutes/${at}/0`)
    for (const [place, values] of lists.entries()) {
      const list = `minutes/${at}/${place + 2}`
      if (values.length !== columns.length) add(list, 'length', `must have ${columns.length} items, one for each column.`)
      const negative = values.findIndex((value, index) => value !== null && value < 0 && isNeverNegative(columns[index] ?? ''))
      if (negative >= 0) add(`${list}/${negative}`, 'out_of_range', 'must be at least 0.')
    }
  }
  return problems.slice(0, maxProblems)
}
