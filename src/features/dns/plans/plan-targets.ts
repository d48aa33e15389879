import { eq } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { invalid } from '../../../core/problem'
import { openProvider } from '../accounts/open'
import { aliasAddressesOf } from '../aliases/expand'
import { dnsProviders } from '../accounts/tables'
import type { Op } from '../providers/provider'
import { drivenKeys } from '../records/rows'
import { rrsetKey } from '../zones/names'
import { type ZoneRow } from '../zones/rows'
import { evaluate, evaluationInput } from '../sync/evaluate'
import { blockReasons, type BlockReason } from './guards'
import { plannedOp, plannedOps, type PlannedTarget } from './plan-forms'
import { enforcementAt } from '../drift/drift-enforcement'
import { desiredRrsets, foreignEntries, knownStates, observedRrset, targetsOf } from '../targets/target-rows'
import { limitsOf } from './zone-edits'

/** Limits a plan to some targets. */
export interface PlanScope {
  /** Ids of targets; all when absent. */
  targets?: readonly string[]
  /** External changes to revert: keys of `rrsetKey`, or all. */
  enforce?: string[] | 'all'
}

/** Converts the stored form to the option of a sync. */
export const enforcedKeys = (stored: PlanScope['enforce'] | null): ReadonlySet<string> | 'all' | undefined =>
  stored === 'all' ? 'all' : stored ? new Set(stored) : undefined

/** Plans the steps at the targets of a zone from their last reads, without contacting them. @throws Problem 422 */
export async function plannedAtTargets(
  tx: Tx,
  hub: Hub,
  zone: ZoneRow,
  edits: readonly Op[],
  scope: PlanScope,
): Promise<{ planned: PlannedTarget; reasons: BlockReason[] }[]> {
  if (zone.targetCount === 0 && !scope.targets) return []
  const all = await targetsOf(tx, zone.id)
  const unknown = scope.targets?.findIndex(id => !all.some(one => one.id === id)) ?? -1
  if (unknown >= 0)
    throw invalid([{ pointer: `#/targets/${unknown}`, code: 'not_found', detail: 'must be a target of the zone.' }])
  const desired = await desiredRrsets(tx, zone.id)
  for (const op of edits) {
    if (op.after) desired.set(rrsetKey(op), op.after)
    else desired.delete(rrsetKey(op))
  }
  const aliases = await aliasAddressesOf(tx, zone.id)
  const driven = await drivenKeys(tx, zone.id)
  const found = []
  for (const target of all.filter(one => scope.targets?.includes(one.id) ?? true)) {
    const at = { target_id: target.id, provider_id: target.providerId, observed_hash: target.observedHash }
    const [row] = await tx.select().from(dnsProviders).where(eq(dnsProviders.id, target.providerId))
    if (target.lastReadAt === null || !row) {
      found.push({ planned: plannedOps([], at), reasons: [] })
      continue
    }
    const provider = await openProvider(hub, row, true)
    const known = await knownStates(tx, target.id)
    const observed = [...known.values()].flatMap(one => observedRrset(one) ?? [])
    const foreign = [...known.values()].flatMap(foreignEntries)
    const evaluated = evaluate({
      ...evaluationInput(
        zone,
        provider,
        { rrsets: observed, foreign, ...(target.minTtl !== null && { minTtl: target.minTtl }) },
        known,
      ),
      desired,
      aliases,
      isNew: false,
      isFirst: false,
      ...enforcementAt(zone, target, hub.clock.now(), driven, enforcedKeys(scope.enforce)),
    })
    const touched = new Set(edits.map(rrsetKey))
    const reasons = blockReasons({
      ops: evaluated.ops,
      existing: observed,
      limits: limitsOf(zone),
      locked: new Set(),
      driven,
      // A plan also reports unsupported rrsets that it edits itself.
      unsupported: [
        ...evaluated.blockingUnsupported,
        ...evaluated.unsupported.filter(one => touched.has(rrsetKey(one)) && !evaluated.blockingUnsupported.includes(one)),
      ],
      isFirst: target.lastSyncAt === null,
    })
    found.push({ planned: plannedOps(evaluated.ops.map(plannedOp), at), reasons })
  }
  return found
}
