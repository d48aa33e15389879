import { target } from '../../../core/audit'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { requireMatch } from '../../../core/if-match'
import { originOfCaller } from '../changed-event'
import { typeOf } from '../record-values'
import { wantedRrsets } from '../rrsets'
import { ruleKept } from '../rule-problems'
import { rrsetKey, zoneHeld, type ZoneRow } from '../zone-rows'
import { recordNameOf } from '../zone-names'
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
    const wanted = input.rrsets ? await wantedRrsets(tx, zone, input.rrsets) : []
    const by = { source: sourceOf(ctx), origin: originOfCaller(ctx), note: input.note ?? '' }
    const row = await makePlan(tx, ctx, zone, wanted, by, {
      ...(input.targets && { targets: input.targets }),
      ...(input.enforce && {
        enforce: input.enforce === 'all' ? 'all' : input.enforce.map((one, place) => keyOf(one, place, zone)),
      }),
    })
    return {
      result: planView(row, zone, ctx.hub.clock.now()),
      target: [target('plan', { id: row.id }), zoneTarget(zone)],
      reason: row.note || null,
    }
  })
}

/** @throws Problem 422 */
function keyOf(one: { name: string; type: string }, place: number, zone: ZoneRow): string {
  const name = ruleKept(`#/enforce/${place}/name`, () => recordNameOf(one.name, zone.name))
  return rrsetKey({ name, type: ruleKept(`#/enforce/${place}/type`, () => typeOf(one.type)) })
}
