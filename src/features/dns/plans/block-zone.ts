import { eq } from 'drizzle-orm'
import { systemActor } from '../../../core/change'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { JobDraft } from '../../../core/jobs/draft'
import { dnsZones } from '../zones/tables'
import type { ZoneRow } from '../zones/rows'
import type { Evaluated } from '../sync/evaluate'
import type { BlockReason } from './guards'
import { plannedOp, plannedOps } from './plan-forms'
import { mergeReasons, planStatus, storePlan, type PlanRow } from './plans'
import { syncJobFor, syncKind } from '../sync/sync-jobs'
import { dnsPlans } from './tables'
import type { TargetRow } from '../targets/target-rows'

/**
 * Blocks a zone with a plan that lists the pending changes and the reasons. Keeps the same plan while it can be applied. One plan
 * covers all blocked targets, so that it is approved once.
 * @returns the id of the plan
 */
export async function blockZone(
  tx: Tx,
  hub: Hub,
  zone: ZoneRow,
  target: TargetRow,
  evaluated: Pick<Evaluated, 'ops' | 'observedHash'>,
  reasons: readonly BlockReason[],
): Promise<string> {
  const own = plannedOps(evaluated.ops.map(plannedOp), {
    target_id: target.id,
    provider_id: target.providerId,
    observed_hash: evaluated.observedHash,
  })
  const now = hub.clock.now()
  const blockedPlan = await currentBlockedPlan(tx, zone)
  const isOpen = blockedPlan !== undefined && planStatus(blockedPlan, zone, now) === 'open'
  const before = isOpen ? blockedPlan.targets.find(one => one.target_id === target.id) : undefined
  if (before?.ops_hash === own.ops_hash && before.observed_hash === own.observed_hash) return blockedPlan!.id
  // Reasons are merged over all targets: one that no longer applies here stays while other targets are blocked.
  const others = isOpen && blockedPlan.targets.some(one => one !== before) ? blockedPlan : null
  const plan = await storePlan(tx, zone, {
    edits: null,
    targets: [...(others?.targets.filter(one => one !== before) ?? []), own],
    blocked: mergeReasons([...(others?.blocked ?? []), ...reasons]),
    origin: 'api',
    source: 'api',
    note: '',
    enforce: null,
    zoneEdit: null,
    createdBy: systemActor(syncKind),
    now,
  })
  await tx.update(dnsZones).set({ blockedPlanId: plan.id }).where(eq(dnsZones.id, zone.id))
  return plan.id
}

/**
 * Removes a target from the plan that blocks the zone, once the target is in sync.
 * @returns the job that evaluates the remaining targets
 */
export async function unblockZone(tx: Tx, zone: ZoneRow, target: TargetRow): Promise<JobDraft[]> {
  const blockedPlan = await currentBlockedPlan(tx, zone)
  if (!blockedPlan?.targets.some(one => one.target_id === target.id)) return []
  await tx.update(dnsZones).set({ blockedPlanId: null }).where(eq(dnsZones.id, zone.id))
  return blockedPlan.appliedAt === null && blockedPlan.targets.length > 1 ? [syncJobFor(zone.id)] : []
}

/** Reads the current row: the zone may have been loaded earlier. */
async function currentBlockedPlan(tx: Tx, zone: ZoneRow): Promise<PlanRow | undefined> {
  const [row] = await tx
    .select({ plan: dnsPlans })
    .from(dnsZones)
    .innerJoin(dnsPlans, eq(dnsPlans.id, dnsZones.blockedPlanId))
    .where(eq(dnsZones.id, zone.id))
  return row?.plan
}
