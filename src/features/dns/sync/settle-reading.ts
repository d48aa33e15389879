import { and, eq, inArray } from 'drizzle-orm'
import { record, type EventDraft } from '../../../core/change'
import { locking } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { NoticeDraft } from '../../../core/notices'
import type { Op, Snapshot } from '../providers/provider'
import { dnsRecords, dnsZones } from '../tables'
import { rowsAtOnce, rrsetKey, type ZoneRow } from '../zone-rows'
import { aliasAddressesOf } from '../aliases/expand'
import { adoptable, adoptObserved } from './adopt-observed'
import { mayHaveHappened, type Brought, type Results } from './apply-ops'
import { blockZone } from './block-zone'
import { ClaimLost, claimMs, holdClaim, type Claimed } from './claim-target'
import { changedByOthers, evaluate, type Evaluated, type Known } from './evaluate'
import { externalEvent } from './external-change'
import { readingOf } from './first-reading'
import { blocksOf, type BlockCode, type BlockReason } from './guards'
import { printOf, type Comparison } from './normalise'
import { opsHash, plannedOp, type PlannedTarget } from './plan-forms'
import { countedRun, isEditWar, putBackAt } from './put-back'
import type { Opened } from './read-target'
import { writeStands } from './stand-rows'
import { countsOf, driftNotice, editWarNotice, syncAudit, toldDetail } from './sync-tells'
import { dnsZoneTargets } from './tables'
import { desiredOf, knownAt, type TargetRow } from './target-rows'
import { worstOf } from './three-way'
import { blockTells } from './trouble'
import { wakeAfterReading } from './wake-targets'
import { keepStanding } from './zone-standing'
import { limitsOf } from './zone-edits'

/** What a run over a target is to do. */
export interface SyncOrder {
  /** Whether anything is brought there at all; else it is only read. `automatic`: while the zone is active, and is not left to people. */
  applies: boolean | 'automatic'
  /** What is put back though the policy of the zone does not say so: keys of `rrsetKey`, or all. */
  enforce?: ReadonlySet<string> | 'all'
  /** Reasons that a person has overridden. */
  allow?: readonly BlockCode[]
  /** What a plan was made by, and would do: with anything else there, or to be done, the run ends. */
  expects?: PlannedTarget
  /** Takes a reading as it is, though it would not be believed. */
  believes?: boolean
  /** Reads even where the serial says that nothing has changed. */
  reads?: boolean
}

/** What a reading gives rise to. */
export interface Settled {
  ops: Op[]
  blocked: BlockReason[]
  isStale: boolean
}

/**
 * Writes down what a reading tells, and what it gives rise to, in one transaction: how each rrset stands, what others changed, what is adopted,
 * and the plan that is held back.
 * @param after what was just carried out, where this is the reading after it
 * @throws ClaimLost
 */
export async function settle(
  hub: Hub,
  claimed: Claimed,
  opened: Opened,
  snapshot: Snapshot,
  order: SyncOrder,
  after: Brought | null,
): Promise<Settled> {
  const { at, isNew } = opened
  return await record(hub, async tx => {
    const now = hub.clock.now()
    // In the order in which changes of the zone hold them.
    const [found] = await locking(tx.select().from(dnsZones).where(eq(dnsZones.id, claimed.zone.id)))
    if (!found) throw new ClaimLost(claimed.target.id)
    const target = await holdClaim(tx, claimed, now + claimMs)
    let zone = found
    const known = await knownAt(tx, target.id)
    const look = async () =>
      evaluate({
        ...readingOf(zone, opened, snapshot, known),
        desired: await desiredOf(tx, zone.id),
        aliases: await aliasAddressesOf(tx, zone.id),
        isNew: isNew && after === null,
        isFirst: target.lastReadAt === null,
        ...putBackAt(zone, target, now, order.enforce),
      })
    let seen = await look()
    const own = new Set(after?.ops.map(rrsetKey).filter(key => mayHaveHappened(after.results.get(key))))
    for (const one of after ? seen.stands : []) failedStep(one, known.get(rrsetKey(one)), after!.results)
    const told = target.lastReadAt === null ? [] : changedByOthers(seen.stands, seen.gone, known, own)
    const adopted =
      zone.driftPolicy === 'adopt' && !after && adoptable(seen).length > 0
        ? await adoptObserved(tx, hub, zone, adoptable(seen))
        : null
    if (adopted) {
      zone = adopted.zone
      seen = await look()
    }
    // What is taken over is told as the change that it makes here.
    const events: EventDraft[] = adopted?.events ?? externalEvent(hub, zone, told, await recordsAt(tx, zone.id, told))
    const notices: NoticeDraft[] = told.length > 0 && !adopted ? [driftNotice(zone, claimed, told.length)] : []
    const isStale = order.expects !== undefined && isOther(order.expects, seen)
    const ops = mayApply(order, zone) && !isStale ? seen.ops : []
    const blocked = ops.length === 0 ? [] : await reasonsAgainst(zone, target, seen, snapshot, order, isNew)
    const planId = blocked.length > 0 ? await blockZone(tx, hub, zone, target, seen, blocked) : null
    const block = blockTells(zone, claimed, target, planId, blocked)
    if (block) notices.push(block.notice)
    if (planId === null) noteSent(seen.stands, ops, opened.provider.caps)
    await writeStands(tx, zone, target, seen, known, now)
    const enforced = ops.length > 0 && blocked.length === 0 && seen.putBack > 0 && order.enforce === undefined
    if (isEditWar(target, now) && seen.stands.some(one => isFoughtOver(one, zone))) notices.push(editWarNotice(zone, claimed))
    await tx
      .update(dnsZoneTargets)
      .set({
        state: worstOf(seen.stands.map(one => one.state)),
        remoteRef: at.ref,
        lastReadAt: now,
        lastGoodCount: snapshot.rrsets.length,
        observedHash: seen.observedHash,
        remoteSerial: snapshot.serial ?? null,
        error: null,
        isStale: false,
        failuresInARow: 0,
        failingTold: false,
        ...(block && { blockedFor: block.codes }),
        ...(enforced && countedRun(target, now)),
      })
      .where(eq(dnsZoneTargets.id, target.id))
    await keepStanding(tx, zone.id)
    return {
      result: { ops, blocked, isStale },
      audits: [
        ...(after && isNews(after, known) ? [syncAudit(zone, claimed, countsOf(after.ops, after.results))] : []),
        ...(block ? [block.audit] : []),
      ],
      events,
      wakes: adopted?.wakes ?? [],
      jobs: [
        ...(adopted?.jobs ?? []).filter(() => zone.targetCount > 1),
        ...(await wakeAfterReading(tx, hub, target, !mayApply(order, zone))),
      ],
      notices,
    }
  })
}

/** What fails again and again is in the log once. */
const isNews = ({ ops, results }: { ops: readonly Op[]; results: Results }, known: ReadonlyMap<string, Known>): boolean =>
  ops.some(op => results.get(rrsetKey(op))?.outcome === 'done' || known.get(rrsetKey(op))?.state !== 'error')

/** The zone as it is now says so: it may have been paused since the run began. */
export const mayApply = ({ applies }: SyncOrder, zone: ZoneRow): boolean =>
  applies === 'automatic' ? zone.apply === 'auto' && zone.status === 'active' : applies

/** Whether a plan was made for something else; not where all of it is done, by a run that could not say so any more. */
function isOther(expects: PlannedTarget, seen: Evaluated): boolean {
  if (expects.observed_hash === seen.observedHash && expects.ops_hash === opsHash(seen.ops.map(plannedOp))) return false
  if (seen.ops.length > 0 || expects.ops.length < expects.op_count) return true
  const states = new Map(seen.stands.map(one => [rrsetKey(one), one.state]))
  return expects.ops.some(op => (states.get(rrsetKey(op)) ?? 'synced') !== 'synced')
}

/** What is about to be sent, so that it is known for our own wherever it turns up. */
function noteSent(stands: Evaluated['stands'], ops: readonly Op[], caps: Comparison): void {
  const sent = new Map(ops.map(op => [rrsetKey(op), op.after ? printOf(op.after, caps) : '']))
  for (const one of sent.size > 0 ? stands : []) one.sent = sent.get(rrsetKey(one)) ?? one.sent
}

/** A step that was refused, or whose answer was lost, has failed as long as its rrset waits. */
function failedStep(one: Evaluated['stands'][number], before: Known | undefined, results: Results): void {
  const result = results.get(rrsetKey(one))
  // It may still arrive.
  if (result?.outcome === 'unknown' && before && one.observed === before.observed) one.sent = before.sent
  if (one.state !== 'pending' || !result || (result.outcome !== 'refused' && result.outcome !== 'unknown')) return
  one.state = 'error'
  one.detail = toldDetail(result.detail ?? 'The provider did not take it.')
}

const isFoughtOver = ({ state }: Evaluated['stands'][number], zone: ZoneRow): boolean =>
  (state === 'drifted' && zone.driftPolicy === 'enforce') || (state === 'unmanaged' && zone.unmanaged === 'delete')

const reasonsAgainst = async (
  zone: ZoneRow,
  target: TargetRow,
  seen: Evaluated,
  snapshot: Snapshot,
  order: SyncOrder,
  isNew: boolean,
): Promise<BlockReason[]> =>
  blocksOf({
    ops: seen.ops,
    existing: snapshot.rrsets,
    limits: limitsOf(zone),
    locked: new Set(),
    unfit: seen.endangered,
    isFirst: target.lastSyncAt === null && !isNew,
  }).filter(one => !order.allow?.includes(one.code) && !(isNew && one.code === 'apex_ns_change'))

async function recordsAt(tx: Tx, zoneId: string, changed: readonly { name: string }[]) {
  const names = [...new Set(changed.map(one => one.name))]
  const found = []
  for (let at = 0; at < names.length; at += rowsAtOnce)
    found.push(
      ...(await tx
        .select({ id: dnsRecords.id, name: dnsRecords.name, type: dnsRecords.type, content: dnsRecords.content })
        .from(dnsRecords)
        .where(and(eq(dnsRecords.zoneId, zoneId), inArray(dnsRecords.name, names.slice(at, at + rowsAtOnce))))),
    )
  return found
}
