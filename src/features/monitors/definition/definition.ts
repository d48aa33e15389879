import type { Ctx } from '../../../core/ctx'
import { pluralize } from '../../../core/pluralize'
import { invalid, Problem, type FieldProblem } from '../../../core/problem'
import { parsedConditions, withExpectation } from './conditions'
import type { MonitorType } from './types'
import type { MonitorInput, MonitorPatch } from '../shapes'
import type { MonitorRow } from '../view'

/** Columns of a monitor that mean the same for every type. */
export type Definition = Pick<
  MonitorRow,
  | 'key'
  | 'description'
  | 'intervalSeconds'
  | 'timeoutSeconds'
  | 'retryIntervalSeconds'
  | 'confirm'
  | 'recover'
  | 'recoverySeconds'
  | 'quorum'
  | 'downIf'
  | 'degradedIf'
  | 'degradedMs'
  | 'locations'
  | 'tags'
  | 'dependsOn'
  | 'dependencyGraceSeconds'
  | 'severity'
  | 'channelIds'
>

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
  const of = <T>(value: T | null | undefined, now: T | undefined, fresh: T): T =>
    value === undefined ? (now === undefined ? fresh : now) : (value ?? fresh)
  const minSeconds = ctx.limits.monitor_interval_seconds ?? 0
  const intervalSeconds = of(input.interval_seconds, current?.intervalSeconds, Math.max(60, minSeconds))
  const locations = of(input.locations, current?.locations, ['local'])
  const definition: Definition = {
    key: of(input.key, current?.key, null),
    description: of(input.description, current?.description, ''),
    intervalSeconds,
    timeoutSeconds: of(input.timeout_seconds, current?.timeoutSeconds, Math.min(10, intervalSeconds)),
    retryIntervalSeconds: of(input.retry_interval_seconds, current?.retryIntervalSeconds, Math.min(15, intervalSeconds)),
    confirm: of(input.confirm, current?.confirm, 2),
    recover: of(input.recover, current?.recover, 2),
    recoverySeconds: of(input.recovery_seconds, current?.recoverySeconds, locations.length > 1 ? 60 : 0),
    quorum: of(input.quorum, current?.quorum, 'majority'),
    downIf: downIfOf(type, input, current),
    degradedIf:
      input.degraded_if === undefined
        ? (current?.degradedIf ?? [])
        : parsedConditions(type, 'degraded_if', input.degraded_if ?? []),
    degradedMs: of(input.degraded_ms, current?.degradedMs, null),
    locations,
    tags: of(input.tags, current?.tags, []),
    dependsOn: of(input.depends_on, current?.dependsOn, []),
    dependencyGraceSeconds: of(input.dependency_grace_seconds, current?.dependencyGraceSeconds, 60),
    severity: of(input.severity, current?.severity, 'critical'),
    channelIds: of(input.channel_ids, current?.channelIds, null),
  }
  refuseContradiction(definition)
  if (definition.intervalSeconds !== before?.intervalSeconds) refuseTooOften(ctx, definition.intervalSeconds, minSeconds)
  return definition
}

function downIfOf(type: MonitorType, input: DefinitionInput, current: Definition | null): string[] {
  if ('keyword' in input || 'json_query' in input) return withExpectation(type, input.down_if ?? [], input)
  return input.down_if === undefined ? (current?.downIf ?? []) : parsedConditions(type, 'down_if', input.down_if ?? [])
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
