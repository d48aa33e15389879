import { eq } from 'drizzle-orm'
import { systemActor } from '../../../core/change'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { JobDraft } from '../../../core/jobs/queue'
import { dnsZones } from '../tables'
import type { ZoneRow } from '../zone-rows'
import type { Evaluated } from './evaluate'
import type { BlockReason } from './guards'
import { plannedOp, plannedOps } from './plan-forms'
import { joined, planStatus, writePlan, type PlanRow } from './plans'
import { syncJobFor, syncKind } from './sync-jobs'
import { dnsPlans } from './tables'
import type { TargetRow } from './target-rows'

/**
 * Holds a zone back with the plan that says what would be done and why it is not; the same plan stays while it can be applied. What is
 * held back at several targets is in one plan, so that one word lets it through at all of them.
 * @returns the id of the plan
 */
export async function blockZone(
  tx: Tx,
  hub: Hub,
  zone: ZoneRow,
  target: TargetRow,
  seen: Pick<Evaluated, 'ops' | 'observedHash'>,
  reasons: readonly BlockReason[],
): Promise<string> {
  const own = plannedOps(seen.ops.map(plannedOp), {
    target_id: target.id,
    provider_id: target.providerId,
    observed_hash: seen.observedHash,
  })
  const now = hub.clock.now()
  const held = await heldPlan(tx, zone)
  const isOpen = held !== undefined && planStatus(held, zone, now) === 'open'
  const before = isOpen ? held.targets.find(one => one.target_id === target.id) : undefined
  if (before?.ops_hash === own.ops_hash && before.observed_hash === own.observed_hash) return held!.id
  // Reasons are those of all targets: one that holds here no more stays as long as others are held back.
  const others = isOpen && held.targets.some(one => one !== before) ? held : null
  const plan = await writePlan(tx, zone, {
    edits: null,
    targets: [...(others?.targets.filter(one => one !== before) ?? []), own],
    blocked: joined([...(others?.blocked ?? []), ...reasons]),
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
 * Lets go of a plan that held a target back, since all is there that is to be there.
 * @returns the job that finds out what of it is still held back at others
 */
export async function unblockZone(tx: Tx, zone: ZoneRow, target: TargetRow): Promise<JobDraft[]> {
  const held = await heldPlan(tx, zone)
  if (!held?.targets.some(one => one.target_id === target.id)) return []
  await tx.update(dnsZones).set({ blockedPlanId: null }).where(eq(dnsZones.id, zone.id))
  return held.appliedAt === null && held.targets.length > 1 ? [syncJobFor(zone.id)] : []
}

/** As of now, whatever it was when the zone was read. */
async function heldPlan(tx: Tx, zone: ZoneRow): Promise<PlanRow | undefined> {
  const [row] = await tx
    .select({ plan: dnsPlans })
    .from(dnsZones)
    .innerJoin(dnsPlans, eq(dnsPlans.id, dnsZones.blockedPlanId))
    .where(eq(dnsZones.id, zone.id))
  return row?.plan
}
