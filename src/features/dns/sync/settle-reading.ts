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
import type { Opened } from './read-target'
import { writeStands } from './stand-rows'
import { countsOf, driftNotice, editWarNotice, syncAudit } from './sync-tells'
import { dnsZoneTargets } from './tables'
import { desiredOf, knownAt, type TargetRow } from './target-rows'
import { worstOf } from './three-way'
import { keepStanding } from './zone-standing'
import { limitsOf } from './zone-edits'

/** What a run over a target is to do. */
export interface SyncOrder {
  /** Whether anything is brought there at all; else it is only read. */
  applies: boolean
  /** What is put back though the policy of the zone does not say so: keys of `rrsetKey`, or all. */
  enforce?: ReadonlySet<string> | 'all'
  /** Reasons that a person has overridden. */
  allow?: readonly BlockCode[]
  /** What was read when a plan was made: with anything else there the run ends. */
  expects?: string
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
    const target = await holdClaim(tx, claimed, hub.clock.now() + claimMs)
    const [found] = await locking(tx.select().from(dnsZones).where(eq(dnsZones.id, claimed.zone.id)))
    if (!found) throw new ClaimLost(target.id)
    let zone = found
    const known = await knownAt(tx, target.id)
    const enforces = mayEnforce(zone, target, now)
    const look = async () =>
      evaluate({
        ...readingOf(zone, opened, snapshot, known),
        desired: await desiredOf(tx, zone.id),
        aliases: await aliasAddressesOf(tx, zone.id),
        isNew: isNew && after === null,
        puts: (key, state) =>
          order.enforce === 'all' || order.enforce?.has(key) === true || (state === 'drifted' && enforces === 'yes'),
      })
    let seen = await look()
    const own = new Set(after?.ops.filter(one => mayHaveHappened(after.results.get(rrsetKey(one)))).map(rrsetKey))
    for (const one of after ? seen.stands : []) failedStep(one, after!.results)
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
    await writeStands(tx, zone, target, seen, known, now)
    const isStale = order.expects !== undefined && order.expects !== seen.observedHash
    const ops = order.applies && !isStale ? seen.ops : []
    const blocked = ops.length === 0 ? [] : await reasonsAgainst(zone, target, seen, snapshot, order, isNew)
    if (blocked.length > 0) await blockZone(tx, hub, zone, target, seen, blocked)
    const enforced = ops.length > 0 && blocked.length === 0 && seen.putBack > 0 && order.enforce === undefined
    if (enforces === 'no more' && seen.stands.some(one => one.state === 'drifted')) notices.push(editWarNotice(zone, claimed))
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
        ...(enforced && countedRun(target, now)),
      })
      .where(eq(dnsZoneTargets.id, target.id))
    await keepStanding(tx, zone.id)
    return {
      result: { ops, blocked, isStale },
      audits: after && isNews(after, known) ? [syncAudit(zone, claimed, countsOf(after.ops, after.results))] : [],
      events,
      wakes: adopted?.wakes ?? [],
      jobs: (adopted?.jobs ?? []).filter(() => zone.targetCount > 1),
      notices,
    }
  })
}

/** What fails again and again is in the log once. */
const isNews = ({ ops, results }: { ops: readonly Op[]; results: Results }, known: ReadonlyMap<string, Known>): boolean =>
  ops.some(op => results.get(rrsetKey(op))?.outcome === 'done' || known.get(rrsetKey(op))?.state !== 'error')

/** A step that was refused, or whose answer was lost, has failed as long as its rrset waits. */
function failedStep(one: Evaluated['stands'][number], results: Results): void {
  const result = results.get(rrsetKey(one))
  if (one.state !== 'pending' || !result || (result.outcome !== 'refused' && result.outcome !== 'unknown')) return
  one.state = 'error'
  one.detail = (result.detail ?? 'The provider did not take it.').slice(0, 500)
}

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

const enforceWindowMs = 600_000
const mostEnforced = 3

/** Whether what others changed is put back now: three times in ten minutes at most, since they may put theirs back too. */
function mayEnforce(zone: ZoneRow, target: TargetRow, now: number): 'yes' | 'no' | 'no more' {
  if (zone.driftPolicy !== 'enforce') return 'no'
  return now - target.enforcedSince < enforceWindowMs && target.enforcedRuns >= mostEnforced ? 'no more' : 'yes'
}

const countedRun = (target: TargetRow, now: number): Partial<TargetRow> =>
  now - target.enforcedSince < enforceWindowMs
    ? { enforcedRuns: target.enforcedRuns + 1 }
    : { enforcedSince: now, enforcedRuns: 1 }

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
