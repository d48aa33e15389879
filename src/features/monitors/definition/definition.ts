import type { Ctx } from '../../../core/ctx'
import { inputColumns, memberValues, patchColumns, type MemberValues } from '../../../core/members'
import { pluralize } from '../../../core/pluralize'
import { invalid, Problem, type FieldProblem } from '../../../core/problem'
import { parsedConditions, withExpectation } from './conditions'
import type { MonitorType } from './types'
import { definitionMembers, type MonitorInput, type MonitorPatch } from '../shapes'

/** Columns of a monitor that mean the same for every type. */
export type Definition = MemberValues<typeof definitionMembers>

type DefinitionInput =
  Omit<MonitorInput, 'type' | 'target' | 'name' | 'options'> | Omit<MonitorPatch, 'target' | 'name' | 'options'>

/**
 * The definition of a monitor after applying an input or a merge patch. Null resets a field to its default.
 * @param current values for omitted fields; null for the defaults
 * @param before the stored definition: its interval may stay even if the plan no longer allows it
 * @throws Problem 422 for each invalid condition and each conflict between fields, 403 `plan_limit_reached` for an interval that is too short
 */
export function definitionFrom(
  ctx: Ctx,
  type: MonitorType,
  input: DefinitionInput,
  current: Definition | null,
  before: Definition | null = current,
): Definition {
  const base = current ? memberValues(definitionMembers, current) : inputColumns(definitionMembers, {})
  const merged = { ...base, ...patchColumns(definitionMembers, { ...input, down_if: undefined, degraded_if: undefined }) }
  const minSeconds = ctx.limits.monitor_interval_seconds ?? 0
  // Null where the default depends on other fields.
  const intervalSeconds = merged.intervalSeconds ?? Math.max(60, minSeconds)
  const definition: Definition = {
    ...merged,
    intervalSeconds,
    timeoutSeconds: merged.timeoutSeconds ?? Math.min(10, intervalSeconds),
    retryIntervalSeconds: merged.retryIntervalSeconds ?? Math.min(15, intervalSeconds),
    recoverySeconds: merged.recoverySeconds ?? defaultRecoverySeconds(merged),
    downIf: downIfOf(type, input, merged.downIf),
    degradedIf:
      input.degraded_if === undefined ? merged.degradedIf : parsedConditions(type, 'degraded_if', input.degraded_if ?? []),
  }
  refuseContradiction(definition)
  if (definition.intervalSeconds !== before?.intervalSeconds) refuseTooOften(ctx, definition.intervalSeconds, minSeconds)
  return definition
}

export const defaultRecoverySeconds = ({ locations }: Pick<Definition, 'locations'>): number => (locations.length > 1 ? 60 : 0)

function downIfOf(type: MonitorType, input: DefinitionInput, current: string[]): string[] {
  if ('keyword' in input || 'json_query' in input) return withExpectation(type, input.down_if ?? [], input)
  return input.down_if === undefined ? current : parsedConditions(type, 'down_if', input.down_if ?? [])
}

function refuseContradiction(one: Definition): void {
  const problems: FieldProblem[] = []
  const longer = (pointer: string, seconds: number) => {
    if (seconds > one.intervalSeconds)
      problems.push({
        pointer,
        code: 'out_of_range',
        detail: `must not be longer than the interval, ${pluralize(one.intervalSeconds, 'seconds')}.`,
      })
  }
  longer('#/timeout_seconds', one.timeoutSeconds)
  longer('#/retry_interval_seconds', one.retryIntervalSeconds)
  if (one.degradedMs !== null && one.degradedMs >= one.timeoutSeconds * 1000)
    problems.push({
      pointer: '#/degraded_ms',
      code: 'out_of_range',
      detail: `must be shorter than the timeout, ${one.timeoutSeconds * 1000} ms: a slower check counts as down.`,
    })
  if (typeof one.quorum === 'number' && one.quorum > one.locations.length)
    problems.push({
      pointer: '#/quorum',
      code: 'out_of_range',
      detail: `must not exceed the number of locations, ${one.locations.length}.`,
    })
  if (problems.length > 0) throw invalid(problems)
}

function refuseTooOften(ctx: Ctx, seconds: number, minSeconds: number): void {
  if (seconds >= minSeconds) return
  throw new Problem('plan_limit_reached', `The shortest interval your plan allows is ${pluralize(minSeconds, 'seconds')}.`, {
    fields: { limit: 'monitor_interval_seconds', max: minSeconds, used: seconds, plan: ctx.planId },
  })
}
