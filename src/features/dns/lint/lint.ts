import type { Ctx } from '../../../core/ctx'
import { notFound } from '../../../core/problem'
import { runInSlices } from '../../../core/time-slices'
import { readZoneSnapshot } from '../publish/zone-snapshot'
import { lintSteps } from './rules'
import { maxFindings, type ZoneLint } from './shapes'
import { zoneOf } from '../zones/rows'

/** Lints a zone. @throws Problem 404 */
export async function lintZone(ctx: Ctx, id: string): Promise<ZoneLint> {
  await zoneOf(ctx.hub.read, ctx, id)
  const snapshot = await readZoneSnapshot(ctx.hub.read, id)
  if (!snapshot) throw notFound('zone')
  const findings = await runInSlices(lintSteps(snapshot.published))
  return {
    zone_id: id,
    serial: snapshot.published.serial,
    findings: findings.slice(0, maxFindings),
    truncated: findings.length > maxFindings,
  }
}
