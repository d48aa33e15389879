import type { Static } from '@sinclair/typebox'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { Problem } from '../../../core/problem'
import { checkSchedule, expectedAfter, type Schedule } from './schedule'
import { maxDueTimes, type DueTimesQuery, type DueTimesView } from '../shapes'

/**
 * Returns the next times at which an expression expects a ping.
 * @throws Problem 400 if the expression or time zone is invalid
 */
export function previewSchedule(ctx: Ctx, query: Static<typeof DueTimesQuery>): DueTimesView {
  const now = ctx.hub.clock.now()
  const schedule: Schedule = { kind: query.kind, expression: query.expression, timezone: query.timezone, grace_seconds: 1 }
  const [problem] = checkSchedule(schedule, now)
  if (problem) {
    const { pointer, detail } = problem
    throw new Problem('invalid_parameter', detail, {
      errors: [{ pointer: `#/query${pointer}`, code: 'invalid_parameter', detail }],
    })
  }
  const dueTimes: string[] = []
  for (let at = expectedAfter(schedule, now); at !== null && dueTimes.length < maxDueTimes; at = expectedAfter(schedule, at))
    dueTimes.push(instant(at))
  return { due_at: dueTimes }
}
