import { target } from '../../../core/audit'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { requireMatch } from '../../../core/if-match'
import { originOfCaller } from '../changed-event'
import { wantedRrsets } from '../rrsets'
import { zoneHeld } from '../zone-rows'
import { sourceOf, zoneTarget } from '../zones'
import { makePlan, planView } from './plans'
import type { PlanInput, PlanView } from './shapes'

/**
 * Works out what edits would do, and writes it down as a plan; nothing is done.
 * @throws Problem 404, 412, 422, 403 `plan_limit_reached`
 */
export async function planZone(ctx: Ctx, zoneId: string, input: PlanInput): Promise<PlanView> {
  return await change(ctx, 'dns.plan.create', async tx => {
    const zone = await zoneHeld(tx, ctx, zoneId)
    requireMatch(ctx, zone)
    const wanted = await wantedRrsets(tx, zone, input.rrsets)
    const row = await makePlan(tx, ctx, zone, wanted, {
      source: sourceOf(ctx),
      origin: originOfCaller(ctx),
      note: input.note ?? '',
    })
    return {
      result: planView(row, zone, ctx.hub.clock.now()),
      target: [target('plan', { id: row.id }), zoneTarget(zone)],
      reason: row.note || null,
    }
  })
}
