import { eq } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { invalid } from '../../../core/problem'
import { openProvider } from '../accounts/open'
import { aliasAddressesOf } from '../aliases/expand'
import { dnsProviders } from '../accounts/tables'
import type { Op } from '../providers/provider'
import { rrsetKey, type ZoneRow } from '../zone-rows'
import { evaluate } from './evaluate'
import { blocksOf, type BlockReason } from './guards'
import { usualRules } from './ignoring'
import { plannedOp, plannedOps, type PlannedTarget } from './plan-forms'
import { putBackAt } from './put-back'
import { desiredOf, knownAt, observedOf, targetsOf } from './target-rows'
import { limitsOf } from './zone-edits'

/** What of the targets of a zone a plan is about. */
export interface PlanScope {
  /** Ids of targets; all when absent. */
  targets?: readonly string[]
  /** What others changed there and is put back: keys of `rrsetKey`, or all. */
  enforce?: string[] | 'all'
}

/** As a run over a target takes it. */
export const enforcedOf = (kept: PlanScope['enforce'] | null): ReadonlySet<string> | 'all' | undefined =>
  kept === 'all' ? 'all' : kept ? new Set(kept) : undefined

/** What a plan would do at the targets of a zone, by their last readings. Asks none of them. @throws Problem 422 */
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
  const desired = await desiredOf(tx, zone.id)
  for (const op of edits) {
    if (op.after) desired.set(rrsetKey(op), op.after)
    else desired.delete(rrsetKey(op))
  }
  const aliases = await aliasAddressesOf(tx, zone.id)
  const found = []
  for (const target of all.filter(one => scope.targets?.includes(one.id) ?? true)) {
    const at = { target_id: target.id, provider_id: target.providerId, observed_hash: target.observedHash }
    const [row] = await tx.select().from(dnsProviders).where(eq(dnsProviders.id, target.providerId))
    if (target.lastReadAt === null || !row) {
      found.push({ planned: plannedOps([], at), reasons: [] })
      continue
    }
    const provider = await openProvider(hub, row)
    const known = await knownAt(tx, target.id)
    const observed = [...known.values()].flatMap(one => observedOf(one) ?? [])
    const seen = evaluate({
      desired,
      known,
      observed,
      caps: provider.caps,
      aliases,
      unfit: rrset => provider.unfit(rrset),
      rules: zone.ignoreRules ?? usualRules,
      isNew: false,
      isFirst: false,
      ...putBackAt(zone, target, hub.clock.now(), enforcedOf(scope.enforce)),
    })
    const touched = new Set(edits.map(rrsetKey))
    const reasons = blocksOf({
      ops: seen.ops,
      existing: observed,
      limits: limitsOf(zone),
      locked: new Set(),
      // Whoever plans is told of all that he asks for and is not taken.
      unfit: [...seen.endangered, ...seen.unfit.filter(one => touched.has(rrsetKey(one)) && !seen.endangered.includes(one))],
      isFirst: target.lastSyncAt === null,
    })
    found.push({ planned: plannedOps(seen.ops.map(plannedOp), at), reasons })
  }
  return found
}
