import { and, eq } from 'drizzle-orm'
import { target } from '../../../core/audit'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { locking } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import { conflict, invalid, notFound, Problem } from '../../../core/problem'
import type { ActionKind } from '../../actions/kind'
import type { ActionView } from '../../actions/shapes'
import { startAction } from '../../actions/start'
import { countsOf } from '../rrsets'
import { changeZone } from '../zone-changes'
import { zoneHeld, type ZoneRow } from '../zone-rows'
import { zoneTarget } from '../zones'
import { allowing } from './allowing'
import { wantedOfEdit } from './plan-forms'
import { enforcedOf } from './plan-targets'
import { planStatus, unlocking, type PlanRow } from './plans'
import { dnsPlans } from './tables'
import type { PlanApplyInput } from './shapes'
import type { BlockCode } from './guards'
import { failureOf } from './sync-failure'
import { syncKind } from './sync-jobs'
import { syncTarget } from './sync-target'

/**
 * Carries a plan out as it was shown. What is kept here changes in the transaction of the call.
 * @throws Problem 404; 409 `plan_expired`, `plan_stale`, `plan_blocked`, `conflict` for one that was applied, `resource_locked`; 422
 */
export async function applyPlan(ctx: Ctx, zoneId: string, input: PlanApplyInput): Promise<ActionView> {
  return await change(ctx, 'dns.plan.apply', async tx => {
    const zone = await zoneHeld(tx, ctx, zoneId)
    const [plan] = await locking(
      tx
        .select()
        .from(dnsPlans)
        .where(and(eq(dnsPlans.id, input.plan_id), eq(dnsPlans.zoneId, zoneId))),
    )
    if (!plan) throw notFound('plan of this zone')
    const now = ctx.hub.clock.now()
    refuseUnlessOpen(plan, planStatus(plan, zone, now), input.hash)
    const allowed = allowing(plan.blocked, input, { plan_id: plan.id })
    const {
      applied: _,
      action,
      done,
      ...rest
    } = await carryOut(tx, ctx, zone, plan, { allowed, note: input.note || plan.note || null })
    return {
      result: action,
      target: [target('plan', { id: plan.id }), zoneTarget(zone)],
      before: { serial: zone.serial },
      after: { ...done, allowed },
      reason: input.note || plan.note || null,
      ...rest,
    }
  })
}

/** What a plan does at once, in the transaction of the caller, who found it open and nothing left that holds it back. @param zone held */
export async function carryOut(
  tx: Tx,
  ctx: Ctx,
  zone: ZoneRow,
  plan: PlanRow,
  { allowed, note }: { allowed: BlockCode[]; note: string | null },
) {
  const [applied] = await tx
    .update(dnsPlans)
    .set({ appliedAt: ctx.hub.clock.now(), allowed })
    .where(eq(dnsPlans.id, plan.id))
    .returning()
  const made = await changeZone(tx, ctx, zone, (plan.edits ?? []).map(wantedOfEdit).map(unlocking), {
    source: plan.source,
    origin: plan.origin,
    note,
    planId: plan.id,
    ...(plan.zoneEdit && { edit: plan.zoneEdit }),
  })
  const done = { serial: made.zone.serial, ...countsOf(made.changes) }
  const { action, job } = await startAction(tx, ctx, applyAction, {
    resources: [{ type: 'zone', id: zone.id }],
    input: { plan_id: plan.id },
    result: { plan_id: plan.id, ...done },
  })
  return {
    applied: applied!,
    action,
    done,
    events: made.events,
    wakes: made.wakes, // The action itself brings it to the targets of the plan.
    jobs: [...made.jobs.filter(one => one.kind !== syncKind), job],
  }
}

/** @throws Problem 409 */
function refuseUnlessOpen(plan: PlanRow, status: ReturnType<typeof planStatus>, hash: string): void {
  if (status === 'applied') throw conflict('The plan was applied already.')
  if (status === 'expired')
    throw new Problem('plan_expired', 'The plan is older than 15 minutes. Make it anew and look at it again.')
  if (status === 'stale')
    throw new Problem('plan_stale', 'The zone has changed since the plan was made. Make it anew and look at it again.')
  if (plan.hash !== hash)
    throw invalid([{ pointer: '#/hash', code: 'not_allowed', detail: 'must be the hash of the plan, as it was shown with it.' }])
}

const busyPauseMs = 1_000

/** What is left to do once the zone here is changed: the targets of the plan, one by one. */
export const applyAction: ActionKind<{ plan_id: string }, { done: string[] }> = {
  type: 'zone.apply',
  area: 'dns',
  audit: 'dns.plan.apply',
  cancellable: false,
  resumable: true,
  concurrency: 4,
  leaseMs: 300_000,
  async run(hub, { input, state, result }) {
    const done = state?.done ?? []
    const [plan] = await hub.read.select().from(dnsPlans).where(eq(dnsPlans.id, input.plan_id))
    // What was never read is left to the first reading.
    const next = plan?.targets.find(one => one.target_id !== null && one.observed_hash !== null && !done.includes(one.target_id))
    if (!plan || !next) return async () => ({ result: { done: result } })
    const outcome = await syncTarget(hub, next.target_id!, {
      applies: true,
      reads: true,
      allow: plan.allowed,
      expects: next,
      ...(plan.enforce !== null && { enforce: enforcedOf(plan.enforce)! }),
    })
    if (outcome.did === 'busy') return async () => ({ result: { state: { done }, at: hub.clock.now() + busyPauseMs } })
    const failed = failureOf(outcome)
    if (failed) return async () => ({ result: { failed, ...(result && { result }) } })
    const counts = outcome.did === 'read' ? outcome.counts : null
    return async () => ({
      result: { state: { done: [...done, next.target_id!] }, result: { ...result, [next.target_id!]: counts } },
    })
  },
}
