import { eq } from 'drizzle-orm'
import { systemActor } from '../../../core/change'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { dnsZones } from '../tables'
import type { ZoneRow } from '../zone-rows'
import type { Evaluated } from './evaluate'
import type { BlockReason } from './guards'
import { plannedOp, plannedOps } from './plan-forms'
import { planStatus, writePlan } from './plans'
import { syncKind } from './sync-jobs'
import { dnsPlans } from './tables'
import type { TargetRow } from './target-rows'

/** Holds a zone back with the plan that says what would be done and why it is not; the same plan stays while it can be applied. */
export async function blockZone(
  tx: Tx,
  hub: Hub,
  zone: ZoneRow,
  target: TargetRow,
  seen: Pick<Evaluated, 'ops' | 'observedHash'>,
  reasons: readonly BlockReason[],
): Promise<void> {
  const targets = [
    plannedOps(seen.ops.map(plannedOp), {
      target_id: target.id,
      provider_id: target.providerId,
      observed_hash: seen.observedHash,
    }),
  ]
  const now = hub.clock.now()
  if (zone.blockedPlanId !== null) {
    const [held] = await tx.select().from(dnsPlans).where(eq(dnsPlans.id, zone.blockedPlanId))
    const isSame = held?.targets.length === 1 && held.targets[0]!.ops_hash === targets[0]!.ops_hash
    if (held && isSame && planStatus(held, zone, now) === 'open') return
  }
  const plan = await writePlan(tx, zone, {
    edits: null,
    targets,
    blocked: [...reasons],
    origin: 'api',
    source: 'api',
    note: '',
    enforce: null,
    zoneEdit: null,
    createdBy: systemActor(syncKind),
    now,
  })
  await tx.update(dnsZones).set({ blockedPlanId: plan.id }).where(eq(dnsZones.id, zone.id))
}
