import type { Ctx } from '../../core/ctx'
import { notFound } from '../../core/problem'
import { inTurns } from '../../core/turns'
import { readWholeZone } from './whole-zone'
import { lintSteps } from './zone-lint'
import { mostFindings, type ZoneLint } from './zone-shapes'
import { zoneOf } from './zones'

/** What in the zone is most often a mistake. @throws Problem 404 */
export async function lintOf(ctx: Ctx, id: string): Promise<ZoneLint> {
  await zoneOf(ctx.hub.read, ctx, id)
  const whole = await readWholeZone(ctx.hub.read, id)
  if (!whole) throw notFound('zone')
  const findings = await inTurns(lintSteps(whole.published))
  return {
    zone_id: id,
    serial: whole.published.serial,
    findings: findings.slice(0, mostFindings),
    truncated: findings.length > mostFindings,
  }
}
