import type { Static } from '@sinclair/typebox'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { badParameter } from '../../core/query'
import { checkSchedule, expectedAfter, type Schedule } from './schedule'
import { dueTimes, type DueTimesQuery, type DueTimesView } from './shapes'

/**
 * When pings would be expected by an expression from now on.
 * @throws Problem 400 for an expression or time zone that no schedule may have
 */
export function readDueTimes(ctx: Ctx, asked: Static<typeof DueTimesQuery>): DueTimesView {
  const now = ctx.hub.clock.now()
  const schedule: Schedule = { kind: asked.kind, expression: asked.expression, timezone: asked.timezone, grace_seconds: 1 }
  const [problem] = checkSchedule(schedule, now)
  if (problem) throw badParameter(problem.pointer.slice(1), `is refused. ${problem.detail}`)
  const found: string[] = []
  for (let at = expectedAfter(schedule, now); at !== null && found.length < dueTimes; at = expectedAfter(schedule, at))
    found.push(instant(at))
  return { due_at: found }
}
