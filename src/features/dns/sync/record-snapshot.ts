import { and, eq, inArray } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { EventDraft } from '../../../core/change-result'
import { forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { NoticeDraft } from '../../../core/notices'
import type { Op, Snapshot } from '../providers/provider'
import { dnsRecords } from '../records/tables'
import { dnsZones } from '../zones/tables'
import { batches, drivenKeys } from '../records/rows'
import { rrsetKey } from '../zones/names'
import { type ZoneRow } from '../zones/rows'
import { aliasAddressesOf } from '../aliases/expand'
import { adoptable, adoptObserved } from '../drift/adopt-observed'
import { mayHaveApplied, type AppliedOps, type Results } from './apply-ops'
import { blockZone } from '../plans/block-zone'
import { ClaimLost, claimMs, confirmClaim, type ClaimedTarget } from '../targets/claim-target'
import { externalChanges, evaluate, evaluationInput, type Evaluated } from './evaluate'
import { worstOf, type KnownState } from './three-way'
import { externalEvent } from '../drift/external-change'
import { blockReasons, type BlockCode, type BlockReason } from '../plans/guards'
import { fingerprintOf, type ComparisonRules } from './fingerprint'
import { opsHash, plannedOp, type PlannedTarget } from '../plans/plan-forms'
import { countEnforcement, isEditWar, enforcementAt } from '../drift/drift-enforcement'
import type { OpenedTarget } from './read-target'
import { storeRrsetStates } from '../targets/rrset-state-rows'
import { countsOf, driftNotice, editWarNotice, syncAudit, truncateDetail } from './sync-notices'
import { dnsZoneTargets } from '../targets/tables'
import { desiredRrsets, knownStates, type TargetRow } from '../targets/target-rows'
import { blockReport } from './target-failures'
import { retryAfterRead } from './retry-targets'
import { updateZoneSyncState } from '../targets/zone-sync-state'
import { limitsOf } from '../plans/zone-edits'

/** Options of a sync. */
export interface SyncOptions {
  /** Apply changes, or only read. `automatic`: apply if the zone is active and set to apply automatically. */
  applies: boolean | 'automatic'
  /** Drift to revert regardless of the policy: keys of `rrsetKey`, or all. */
  enforce?: ReadonlySet<string> | 'all'
  /** Allowed block reasons. */
  allow?: readonly BlockCode[]
  /** What the plan was based on and would do. If anything differs, the sync stops. */
  expects?: PlannedTarget
  /** Accept an implausible result. */
  force?: boolean
  /** Read even if the serial is unchanged. */
  reads?: boolean
}

/** Result of storing a snapshot. */
interface SnapshotResult {
  ops: Op[]
  blocked: BlockReason[]
  isStale: boolean
}

/**
 * Stores the result of a read in one transaction: the state of each rrset, external changes, adopted changes, and the plan that
 * blocks the zone.
 * @param after steps that were just applied, if this read verifies them
 * @throws ClaimLost
 */
export async function recordSnapshot(
  hub: Hub,
  claimed: ClaimedTarget,
  opened: OpenedTarget,
  snapshot: Snapshot,
  options: SyncOptions,
  after: AppliedOps | null,
): Promise<SnapshotResult> {
  const { at, isNew } = opened
  return await record(hub, async tx => {
    const now = hub.clock.now()
    // Same lock order as changes of the zone.
    const [found] = await forUpdate(tx.select().from(dnsZones).where(eq(dnsZones.id, claimed.zone.id)))
    if (!found) throw new ClaimLost(claimed.target.id)
    const target = await confirmClaim(tx, claimed, now + claimMs)
    let zone = found
    const known = await knownStates(tx, target.id)
    const driven = await drivenKeys(tx, zone.id)
    const input = evaluationInput(zone, opened.provider, snapshot, known)
    const look = async () =>
      evaluate({
        ...input,
        desired: await desiredRrsets(tx, zone.id),
        aliases: await aliasAddressesOf(tx, zone.id),
        isNew: isNew && after === null,
        isFirst: target.lastReadAt === null,
        ...enforcementAt(zone, target, now, driven, options.enforce),
      })
    let evaluated = await look()
    const own = new Set(after?.ops.map(rrsetKey).filter(key => mayHaveApplied(after.results.get(key))))
    for (const one of after ? evaluated.states : []) markFailed(one, known.get(rrsetKey(one)), after!.results)
    const external = target.lastReadAt === null ? [] : externalChanges(evaluated.states, evaluated.absent, known, own)
    const toAdopt = zone.driftPolicy === 'adopt' && !after ? adoptable(evaluated, driven) : []
    const adopted = toAdopt.length > 0 ? await adoptObserved(tx, hub, zone, toAdopt) : null
    if (adopted) {
      zone = adopted.zone
      evaluated = await look()
    }
    // Adopted changes are reported as the zone change that they cause.
    const events: EventDraft[] =
      adopted?.effects.events ?? externalEvent(hub, zone, external, await recordsAt(tx, zone.id, external))
    const notices: NoticeDraft[] = external.length > 0 && !adopted ? [driftNotice(zone, claimed, external.length)] : []
    const isStale = options.expects !== undefined && differsFromPlan(options.expects, evaluated)
    const ops = mayApply(options, zone) && !isStale ? evaluated.ops : []
    const blocked = ops.length === 0 ? [] : await blockReasonsAt(zone, target, evaluated, snapshot, options, isNew, driven)
    const planId = blocked.length > 0 ? await blockZone(tx, hub, zone, target, evaluated, blocked) : null
    const block = blockReport(zone, claimed, target, planId, blocked)
    if (block) notices.push(block.notice)
    if (planId === null) recordSent(evaluated.states, ops, input.caps)
    await storeRrsetStates(tx, zone, target, evaluated, known, now)
    const enforced = ops.length > 0 && blocked.length === 0 && evaluated.enforcedCount > 0 && options.enforce === undefined
    if (isEditWar(target, now) && evaluated.states.some(one => isContested(one, zone, driven)))
      notices.push(editWarNotice(zone, claimed))
    await tx
      .update(dnsZoneTargets)
      .set({
        state: worstOf(evaluated.states.map(one => one.state)),
        remoteRef: at.ref,
        lastReadAt: now,
        lastGoodCount: snapshot.rrsets.length,
        observedHash: evaluated.observedHash,
        remoteSerial: snapshot.serial ?? null,
        minTtl: snapshot.minTtl ?? null,
        error: null,
        isStale: false,
        consecutiveFailures: 0,
        failureNotified: false,
        ...(block && { blockedFor: block.codes }),
        ...(enforced && countEnforcement(target, now)),
      })
      .where(eq(dnsZoneTargets.id, target.id))
    await updateZoneSyncState(tx, zone.id)
    return {
      result: { ops, blocked, isStale },
      audits: [
        ...(after && isNewResult(after, known) ? [syncAudit(zone, claimed, countsOf(after.ops, after.results))] : []),
        ...(block ? [block.audit] : []),
      ],
      events,
      wakeTopics: adopted?.effects.wakeTopics ?? [],
      jobs: [
        ...(adopted?.effects.jobs ?? []).filter(() => zone.targetCount > 1),
        ...(await retryAfterRead(tx, hub, target, !mayApply(options, zone))),
      ],
      notices,
    }
  })
}

/** Logs repeated failures only once. */
const isNewResult = (
  { ops, results }: { ops: readonly Op[]; results: Results },
  known: ReadonlyMap<string, KnownState>,
): boolean => ops.some(op => results.get(rrsetKey(op))?.outcome === 'done' || known.get(rrsetKey(op))?.state !== 'error')

/** Uses the current zone: it may have been paused since the sync began. */
export const mayApply = ({ applies }: SyncOptions, zone: ZoneRow): boolean =>
  applies === 'automatic' ? zone.apply === 'auto' && zone.status === 'active' : applies

/** Returns whether the plan no longer applies. A plan that was already fully applied, by a run that couldn't record it, still does. */
function differsFromPlan(expects: PlannedTarget, evaluated: Evaluated): boolean {
  if (expects.observed_hash === evaluated.observedHash && expects.ops_hash === opsHash(evaluated.ops.map(plannedOp))) return false
  if (evaluated.ops.length > 0 || expects.ops.length < expects.op_count) return true
  const states = new Map(evaluated.states.map(one => [rrsetKey(one), one.state]))
  return expects.ops.some(op => (states.get(rrsetKey(op)) ?? 'synced') !== 'synced')
}

/** Records what is about to be sent, so that it is recognized as our own change. */
function recordSent(states: Evaluated['states'], ops: readonly Op[], caps: ComparisonRules): void {
  const sent = new Map(ops.map(op => [rrsetKey(op), op.after ? fingerprintOf(op.after, caps) : '']))
  for (const one of sent.size > 0 ? states : []) one.sent = sent.get(rrsetKey(one)) ?? one.sent
}

/** Marks a step as failed if it was refused, or its response was lost, while its rrset is still pending. */
function markFailed(one: Evaluated['states'][number], before: KnownState | undefined, results: Results): void {
  const result = results.get(rrsetKey(one))
  // It may still take effect.
  if (result?.outcome === 'unknown' && before && one.observed === before.observed) one.sent = before.sent
  if (one.state !== 'pending' || !result || (result.outcome !== 'refused' && result.outcome !== 'unknown')) return
  one.state = 'error'
  one.detail = truncateDetail(result.detail ?? 'The provider rejected the change.')
}

/** Whether it would be reverted if that hadn't happened too often, as in `enforcementAt`. */
const isContested = (one: Evaluated['states'][number], zone: ZoneRow, driven: ReadonlySet<string>): boolean =>
  ((one.state === 'drifted' || one.state === 'conflict') && driven.has(rrsetKey(one))) ||
  (one.state === 'drifted' && zone.driftPolicy === 'enforce') ||
  (one.state === 'unmanaged' && zone.unmanaged === 'delete')

const blockReasonsAt = async (
  zone: ZoneRow,
  target: TargetRow,
  evaluated: Evaluated,
  snapshot: Snapshot,
  options: SyncOptions,
  isNew: boolean,
  driven: ReadonlySet<string>,
): Promise<BlockReason[]> =>
  blockReasons({
    ops: evaluated.ops,
    existing: snapshot.rrsets,
    limits: limitsOf(zone),
    locked: new Set(),
    driven,
    unsupported: evaluated.blockingUnsupported,
    isFirst: target.lastSyncAt === null && !isNew,
  }).filter(one => !options.allow?.includes(one.code) && !(isNew && one.code === 'apex_ns_change'))

async function recordsAt(tx: Tx, zoneId: string, changed: readonly { name: string }[]) {
  const names = [...new Set(changed.map(one => one.name))]
  const found = []
  for (const some of batches(names))
    found.push(
      ...(await tx
        .select({ id: dnsRecords.id, name: dnsRecords.name, type: dnsRecords.type, content: dnsRecords.content })
        .from(dnsRecords)
        .where(and(eq(dnsRecords.zoneId, zoneId), inArray(dnsRecords.name, some)))),
    )
  return found
}
