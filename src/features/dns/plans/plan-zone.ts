import { target } from '../../../core/audit'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { callerOrigin } from '../changes/changed-event'
import { wantedRrsets } from '../records/rrsets'
import { parseRrset } from '../records/parse-field'
import { rrsetKey } from '../zones/names'
import { zoneRows } from '../zones/rows'
import { sourceOf, zoneTarget } from '../zones/zones'
import { createPlan, planView } from './plans'
import type { PlanInput, PlanView } from './shapes'
import { lockRow } from '../../../core/rows'

/**
 * Creates a plan that shows what edits would do, without applying them.
 * @throws Problem 404, 412, 422, 403 `plan_limit_reached`
 */
export async function planZone(ctx: Ctx, zoneId: string, input: PlanInput): Promise<PlanView> {
  return await change(ctx, 'dns.plan.create', async tx => {
    const zone = await lockRow(tx, ctx, zoneRows, zoneId)
    const wanted = input.rrsets ? await wantedRrsets(tx, zone, input.rrsets) : []
    const by = { source: sourceOf(ctx), origin: callerOrigin(ctx), note: input.note ?? '' }
    const row = await createPlan(tx, ctx, zone, wanted, by, {
      ...(input.targets && { targets: input.targets }),
      ...(input.enforce && {
        enforce:
          input.enforce === 'all'
            ? 'all'
            : input.enforce.map((one, place) => rrsetKey(parseRrset(one, `#/enforce/${place}`, zone))),
      }),
    })
    return {
      result: planView(row, zone, ctx.hub.clock.now()),
      target: [target('plan', { id: row.id }), zoneTarget(zone)],
      reason: row.note || null,
    }
  })
}
