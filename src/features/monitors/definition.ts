import type { Ctx } from '../../core/ctx'
import { numbered } from '../../core/numbered'
import { invalid, Problem, type FieldProblem } from '../../core/problem'
import { conditionsRead, withExpectation } from './conditions'
import type { MonitorType } from './monitor-types'
import type { MonitorInput, MonitorPatch } from './shapes'
import type { MonitorRow } from './view'

/** Members of a monitor that mean the same for every type, as columns. */
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

type Given = Omit<MonitorInput, 'type' | 'target' | 'name' | 'options'> | Omit<MonitorPatch, 'target' | 'name' | 'options'>

/**
 * The definition of a monitor after an input or a merge patch: what is absent stays or is as in a new one, null is as in a new one.
 * @param kept what stays where nothing is given; null for what a new monitor has
 * @param before of the monitor as it was, whose interval it may keep whatever the plan says by now
 * @throws Problem 422 at each condition that cannot be read and each member that does not go with another, 403 `plan_limit_reached` for too short an interval
 */
export function defined(
  ctx: Ctx,
  type: MonitorType,
  given: Given,
  kept: Definition | null,
  before: Definition | null = kept,
): Definition {
  const of = <T>(asked: T | null | undefined, now: T | undefined, fresh: T): T =>
    asked === undefined ? (now === undefined ? fresh : now) : (asked ?? fresh)
  const least = ctx.limits.monitor_interval_seconds ?? 0
  const intervalSeconds = of(given.interval_seconds, kept?.intervalSeconds, Math.max(60, least))
  const locations = of(given.locations, kept?.locations, ['local'])
  const definition: Definition = {
    key: of(given.key, kept?.key, null),
    description: of(given.description, kept?.description, ''),
    intervalSeconds,
    timeoutSeconds: of(given.timeout_seconds, kept?.timeoutSeconds, Math.min(10, intervalSeconds)),
    retryIntervalSeconds: of(given.retry_interval_seconds, kept?.retryIntervalSeconds, Math.min(15, intervalSeconds)),
    confirm: of(given.confirm, kept?.confirm, 2),
    recover: of(given.recover, kept?.recover, 2),
    recoverySeconds: of(given.recovery_seconds, kept?.recoverySeconds, locations.length > 1 ? 60 : 0),
    quorum: of(given.quorum, kept?.quorum, 'majority'),
    downIf: downIfOf(type, given, kept),
    degradedIf:
      given.degraded_if === undefined ? (kept?.degradedIf ?? []) : conditionsRead(type, 'degraded_if', given.degraded_if ?? []),
    degradedMs: of(given.degraded_ms, kept?.degradedMs, null),
    locations,
    tags: of(given.tags, kept?.tags, []),
    dependsOn: of(given.depends_on, kept?.dependsOn, []),
    dependencyGraceSeconds: of(given.dependency_grace_seconds, kept?.dependencyGraceSeconds, 60),
    severity: of(given.severity, kept?.severity, 'critical'),
    channelIds: of(given.channel_ids, kept?.channelIds, null),
  }
  refuseContradiction(definition)
  if (definition.intervalSeconds !== before?.intervalSeconds) refuseTooOften(ctx, definition.intervalSeconds, least)
  return definition
}

function downIfOf(type: MonitorType, given: Given, kept: Definition | null): string[] {
  if ('keyword' in given || 'json_query' in given) return withExpectation(type, given.down_if ?? [], given)
  return given.down_if === undefined ? (kept?.downIf ?? []) : conditionsRead(type, 'down_if', given.down_if ?? [])
}

function refuseContradiction(one: Definition): void {
  const problems: FieldProblem[] = []
  const longer = (pointer: string, seconds: number) => {
    if (seconds > one.intervalSeconds)
      problems.push({
        pointer,
        code: 'out_of_range',
        detail: `must be at most the interval, ${numbered(one.intervalSeconds, 'seconds')}.`,
      })
  }
  longer('#/timeout_seconds', one.timeoutSeconds)
  longer('#/retry_interval_seconds', one.retryIntervalSeconds)
  if (one.degradedMs !== null && one.degradedMs >= one.timeoutSeconds * 1000)
    problems.push({
      pointer: '#/degraded_ms',
      code: 'out_of_range',
      detail: `must be below the timeout, ${one.timeoutSeconds * 1000} ms: what takes longer is down.`,
    })
  if (typeof one.quorum === 'number' && one.quorum > one.locations.length)
    problems.push({
      pointer: '#/quorum',
      code: 'out_of_range',
      detail: `must be at most the number of locations, ${one.locations.length}.`,
    })
  if (problems.length > 0) throw invalid(problems)
}

function refuseTooOften(ctx: Ctx, seconds: number, least: number): void {
  if (seconds >= least) return
  throw new Problem('plan_limit_reached', `The plan allows a check every ${numbered(least, 'seconds')} at most.`, {
    members: { limit: 'monitor_interval_seconds', max: least, used: seconds, plan: ctx.planId },
  })
}
