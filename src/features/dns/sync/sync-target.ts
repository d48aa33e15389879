import { and, count, eq, inArray } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'
import { ProviderError, type ProviderFailure, type Snapshot } from '../providers/provider'
import { rrsetKey } from '../zone-rows'
import { applyOps, mayHaveHappened, type Brought } from './apply-ops'
import { unblockZone } from './block-zone'
import { claimTarget, ClaimLost, free, holdClaim, renewClaim, type Claimed } from './claim-target'
import { writeFirstReading } from './first-reading'
import { unbelievable, type BlockReason } from './guards'
import { openTarget, readOpened, type Opened } from './read-target'
import { mayApply, settle, type SyncOrder } from './settle-reading'
import { countsOf, syncAudit, toldDetail, type SyncCounts } from './sync-tells'
import { dnsTargetRrsets } from './tables'
import type { SyncState } from './three-way'
import { failingNotices, unblockAudits } from './trouble'
import { wakeAfterReading } from './wake-targets'
import { keepStanding } from './zone-standing'

/** What came of a run. */
export type SyncOutcome =
  | { did: 'busy' | 'gone' }
  | { did: 'failed'; code: string; detail: string; retryAfterMs: number | null }
  | { did: 'read'; blocked: BlockReason[]; isStale: boolean; counts: SyncCounts }

const nothing: SyncCounts = { created: 0, updated: 0, deleted: 0, failed: 0 }

/**
 * Reads a target, tells how each rrset stands, brings there what is to be brought, and reads again what became of it. Only what was read
 * again counts as agreed.
 */
export async function syncTarget(hub: Hub, targetId: string, order: SyncOrder): Promise<SyncOutcome> {
  const claimed = await claimTarget(hub, targetId)
  if (!claimed) return { did: claimed === null ? 'busy' : 'gone' }
  let brought: Brought | null = null
  try {
    const opened = await openTarget(hub, claimed, mayApply(order, claimed.zone))
    await renewClaim(hub, claimed)
    const known = order.reads || (await isWaiting(hub, claimed)) ? null : claimed.target.remoteSerial
    const snapshot = await readOpened(opened, known)
    if (!snapshot) return await unchanged(hub, claimed)
    const doubt = order.believes
      ? null
      : unbelievable(snapshot.rrsets, await lastReading(hub, claimed, opened), opened.provider.caps)
    if (doubt) throw new ProviderError('incomplete', doubt)
    await writeFirstReading(hub, claimed, opened, snapshot)
    await renewClaim(hub, claimed)
    const first = await settle(hub, claimed, opened, snapshot, order, null)
    if (first.ops.length === 0 || first.blocked.length > 0 || first.isStale) {
      await finish(
        hub,
        claimed,
        first.isStale ? 'again' : first.blocked.length === 0 && mayApply(order, claimed.zone) ? 'done' : 'read',
      )
      return { did: 'read', blocked: first.blocked, isStale: first.isStale, counts: nothing }
    }
    await renewClaim(hub, claimed)
    brought = { ops: first.ops, results: await applyOps(hub, claimed, opened, first.ops) }
    const least = thereAtLeast(snapshot, brought)
    await renewClaim(hub, claimed)
    const again = await opened.provider.read(opened.at)
    const loss = unbelievable(again.rrsets, least, opened.provider.caps)
    if (loss) throw new ProviderError('incomplete', loss)
    await settle(hub, claimed, opened, again, { ...order, applies: false }, brought)
    const counts = countsOf(brought.ops, brought.results)
    await finish(hub, claimed, counts.failed === 0 ? 'done' : wasRefused(brought) ? 'failed' : 'again')
    return { did: 'read', blocked: [], isStale: false, counts }
  } catch (error) {
    if (error instanceof ClaimLost) return { did: 'busy' }
    if (!(error instanceof ProviderError)) {
      await record(hub, async tx => ({ result: await free(tx, claimed.claim, targetId) }))
      throw error
    }
    return await failed(hub, claimed, error, brought)
  }
}

/** What a reading is held against. */
async function lastReading(hub: Hub, { target }: Claimed, { isNew }: Opened): Promise<{ count: number | null; hasNs: boolean }> {
  if (target.lastReadAt === null) return { count: null, hasNs: !isNew }
  const [ns] = await hub.read
    .select({ observed: dnsTargetRrsets.observed, sent: dnsTargetRrsets.sent })
    .from(dnsTargetRrsets)
    .where(and(eq(dnsTargetRrsets.targetId, target.id), eq(dnsTargetRrsets.name, '@'), eq(dnsTargetRrsets.type, 'NS')))
  const [removed] = await hub.read
    .select({ n: count() })
    .from(dnsTargetRrsets)
    .where(and(eq(dnsTargetRrsets.targetId, target.id), eq(dnsTargetRrsets.sent, '')))
  // What was sent and never seen to be done may be done.
  return { count: (target.lastGoodCount ?? 0) - removed!.n, hasNs: Boolean(ns?.observed && ns.sent !== '') }
}

const wasRefused = ({ results }: Brought): boolean =>
  [...results.values()].some(one => one.outcome === 'refused' || one.outcome === 'unknown')

/** The same once steps were carried out: all that was there, but for what may have been removed. */
function thereAtLeast({ rrsets }: Snapshot, { ops, results }: Brought): { count: number; hasNs: boolean } {
  const removed = ops.filter(one => one.action === 'delete' && mayHaveHappened(results.get(rrsetKey(one))))
  const made = ops.filter(one => one.action === 'create' && results.get(rrsetKey(one))?.outcome === 'done')
  const isApexNs = (one: { name: string; type: string }) => one.name === '@' && one.type === 'NS'
  return { count: rrsets.length + made.length - removed.length, hasNs: rrsets.some(isApexNs) && !removed.some(isApexNs) }
}

/** Whether something waits to be brought there, so that the target is to be read whatever its serial. */
async function isWaiting(hub: Hub, { target, zone }: Claimed): Promise<boolean> {
  if (target.remoteSerial === null) return true
  const waiting: SyncState[] = [
    'pending',
    'error',
    'unknown',
    ...(zone.driftPolicy === 'report' ? [] : (['drifted'] as const)),
    ...(zone.unmanaged === 'keep' && zone.driftPolicy !== 'adopt' ? [] : (['unmanaged'] as const)),
  ]
  const [row] = await hub.read
    .select({ state: dnsTargetRrsets.state })
    .from(dnsTargetRrsets)
    .where(and(eq(dnsTargetRrsets.targetId, target.id), inArray(dnsTargetRrsets.state, waiting)))
    .limit(1)
  return row !== undefined
}

/** The serial is that of the last reading, and nothing waits: all is as it was. */
async function unchanged(hub: Hub, claimed: Claimed): Promise<SyncOutcome> {
  const now = hub.clock.now()
  await record(hub, async tx => {
    const jobs = await wakeAfterReading(tx, hub, await holdClaim(tx, claimed, now), false)
    const well = { error: null, isStale: false, failuresInARow: 0, failingTold: false }
    const set = { ...well, lastReadAt: now, nextPollAt: nextPoll(hub, now) }
    return { result: await free(tx, claimed.claim, claimed.target.id, set), jobs }
  })
  return { did: 'read', blocked: [], isStale: false, counts: nothing }
}

// What a provider refused is not asked of it each minute.
const failedPauseMs = 300_000
const againPauseMs = 10_000

/**
 * Gives the target back until it is read again.
 * @param how `done`: all that was to be brought there is there; `failed`: something was refused; `again`: somebody else was faster
 */
async function finish(hub: Hub, claimed: Claimed, how: 'done' | 'read' | 'failed' | 'again'): Promise<void> {
  const now = hub.clock.now()
  await record(hub, async tx => {
    const held = await holdClaim(tx, claimed, now)
    const pause = how === 'failed' ? failedPauseMs : how === 'again' ? againPauseMs : null
    const nextPollAt = pause === null ? nextPoll(hub, now) : now + pause
    const isDone = how === 'done'
    await free(tx, claimed.claim, claimed.target.id, { nextPollAt, ...(isDone && { lastSyncAt: now, blockedFor: null }) })
    return {
      result: undefined,
      audits: isDone ? unblockAudits(claimed, held) : [],
      jobs: isDone ? await unblockZone(tx, claimed.zone, claimed.target) : [],
    }
  })
}

const shortestPauseMs = 60_000
const longestPauseMs = 3_600_000
const pauseMs = (failures: number): number => Math.min(shortestPauseMs * 2 ** (failures - 1), longestPauseMs)

// Whoever did not answer most likely serves the zone as before; every other failure is an answer, and the zone is not known to be served.
const unanswered: readonly ProviderFailure[] = ['unreachable', 'timeout', 'throttled']

/**
 * The target could not be asked, or is not believed: what is known of its rrsets stays, and it is asked again later and later. Where that was
 * its answer, it is in error until it is read in full.
 */
async function failed(
  hub: Hub,
  claimed: Claimed,
  { failure, message, retryAfterMs }: ProviderError,
  brought: Brought | null,
): Promise<SyncOutcome> {
  const now = hub.clock.now()
  await record(hub, async tx => {
    const held = await holdClaim(tx, claimed, now)
    const { failuresInARow } = held
    const detail = toldDetail(message)
    const isStale = now - (claimed.target.lastReadAt ?? claimed.target.createdAt) > 2 * hub.config.dnsPollSeconds * 1000
    const notices = failingNotices(claimed, held, { failure, detail, isStale })
    const askAgainAt = now + Math.max(pauseMs(failuresInARow + 1), retryAfterMs ?? 0)
    await free(tx, claimed.claim, claimed.target.id, {
      error: { code: failure, detail },
      ...(!unanswered.includes(failure) && { state: 'error', remoteSerial: null }),
      failuresInARow: failuresInARow + 1,
      isStale,
      failingTold: held.failingTold || notices.length > 0,
      nextPollAt: askAgainAt,
      ...(failure === 'throttled' && { restsUntil: askAgainAt }),
    })
    await keepStanding(tx, claimed.zone.id)
    const isChanged = brought?.ops.some(one => mayHaveHappened(brought.results.get(rrsetKey(one))))
    return {
      result: undefined,
      audits: isChanged ? [syncAudit(claimed.zone, claimed, countsOf(brought!.ops, brought!.results))] : [],
      notices,
    }
  })
  return { did: 'failed', code: failure, detail: message, retryAfterMs }
}

/** A tenth of the interval either way, so that targets are not asked all at once. */
function nextPoll(hub: Hub, now: number): number {
  const interval = hub.config.dnsPollSeconds * 1000
  return now + Math.round(interval * (0.9 + Math.random() * 0.2))
}
