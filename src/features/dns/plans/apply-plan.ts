import { and, eq } from 'drizzle-orm'
import { target } from '../../../core/audit'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import { conflict, invalid, notFound, Problem } from '../../../core/problem'
import type { ActionKind } from '../../actions/kind'
import type { ActionView } from '../../actions/shapes'
import { startAction } from '../../actions/start'
import { changeZone, summaryOf } from '../changes/change-zone'
import { lockZone, type ZoneRow } from '../zones/rows'
import { zoneTarget } from '../zones/zones'
import { requireAllowed } from './require-allowed'
import { wantedFromEdit } from './plan-forms'
import { enforcedKeys } from './plan-targets'
import { planStatus, ignoringLock, type PlanRow } from './plans'
import { dnsPlans } from './tables'
import type { PlanApplyInput } from './shapes'
import type { BlockCode } from './guards'
import { failureOf } from '../sync/sync-failure'
import { syncKind } from '../sync/sync-jobs'
import { syncTarget } from '../sync/sync-target'

/**
 * Applies a plan exactly as it was shown. The local zone changes in the transaction of the request; an action updates the targets.
 * @throws Problem 404; 409 `plan_expired`, `plan_stale`, `plan_blocked`, `conflict` if already applied, `resource_locked`; 422
 */
export async function applyPlan(ctx: Ctx, zoneId: string, input: PlanApplyInput): Promise<ActionView> {
  return await change(ctx, 'dns.plan.apply', async tx => {
    const zone = await lockZone(tx, ctx, zoneId)
    const [plan] = await forUpdate(
      tx
        .select()
        .from(dnsPlans)
        .where(and(eq(dnsPlans.id, input.plan_id), eq(dnsPlans.zoneId, zoneId))),
    )
    if (!plan) throw notFound('plan of this zone')
    const now = ctx.hub.clock.now()
    refuseUnlessOpen(plan, planStatus(plan, zone, now), input.hash)
    const allowed = requireAllowed(plan.blocked, input, { plan_id: plan.id })
    const {
      applied: _,
      action,
      done,
      ...rest
    } = await applyLocally(tx, ctx, zone, plan, { allowed, note: input.note || plan.note || null })
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

/** Applies the local part of an open, unblocked plan in the caller's transaction. @param zone locked */
export async function applyLocally(
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
  const zoneChange = await changeZone(tx, ctx, zone, (plan.edits ?? []).map(wantedFromEdit).map(ignoringLock), {
    source: plan.source,
    origin: plan.origin,
    note,
    planId: plan.id,
    ...(plan.zoneEdit && { edit: plan.zoneEdit }),
  })
  const done = summaryOf(zoneChange)
  const { action, job } = await startAction(tx, ctx, applyAction, {
    resources: [{ type: 'zone', id: zone.id }],
    input: { plan_id: plan.id },
    result: { plan_id: plan.id, ...done },
  })
  return {
    applied: applied!,
    action,
    done,
    ...zoneChange.effects,
    jobs: [...zoneChange.effects.jobs.filter(one => one.kind !== syncKind), job],
  }
}

/** @throws Problem 409 */
function refuseUnlessOpen(plan: PlanRow, status: ReturnType<typeof planStatus>, hash: string): void {
  if (status === 'applied') throw conflict('The plan has already been applied.')
  if (status === 'expired') throw new Problem('plan_expired', 'The plan is older than 15 minutes. Create and review a new one.')
  if (status === 'stale')
    throw new Problem('plan_stale', 'The zone has changed since the plan was created. Create and review a new one.')
  if (plan.hash !== hash)
    throw invalid([{ pointer: '#/hash', code: 'not_allowed', detail: 'must match the `hash` of the plan.' }])
}

const busyPauseMs = 1_000

/** Applies a plan to its targets, one after another. */
export const applyAction: ActionKind<{ plan_id: string }, { done: string[] }> = {
  type: 'zone.apply',
  area: 'dns',
  audit: 'dns.plan.apply',
  cancelable: false,
  resumable: true,
  concurrency: 4,
  // As for syncs of zones: calls can wait for the rate limit of a provider.
  leaseMs: 3_600_000,
  async run(hub, { input, state, result }) {
    const done = state?.done ?? []
    const [plan] = await hub.read.select().from(dnsPlans).where(eq(dnsPlans.id, input.plan_id))
    // Targets that were never read are left to their first sync.
    const next = plan?.targets.find(one => one.target_id !== null && one.observed_hash !== null && !done.includes(one.target_id))
    if (!plan || !next) return async () => ({ result: { done: result } })
    const outcome = await syncTarget(hub, next.target_id!, {
      applies: true,
      reads: true,
      allow: plan.allowed,
      expects: next,
      ...(plan.enforce !== null && { enforce: enforcedKeys(plan.enforce)! }),
    })
    if (outcome.status === 'busy') return async () => ({ result: { state: { done }, at: hub.clock.now() + busyPauseMs } })
    const failed = failureOf(outcome)
    if (failed) return async () => ({ result: { failed, ...(result && { result }) } })
    const counts = outcome.status === 'read' ? outcome.counts : null
    return async () => ({
      result: { state: { done: [...done, next.target_id!] }, result: { ...result, [next.target_id!]: counts } },
    })
  },
}
