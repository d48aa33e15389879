import { and, count, eq, inArray } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'
import { providerKindOf } from '../providers'
import { ProviderError, type ProviderFailure, type Snapshot } from '../providers/provider'
import { rrsetKey } from '../zones/names'
import { applyOps, mayHaveApplied, throttledMs, type AppliedOps } from './apply-ops'
import { unblockZone } from '../plans/block-zone'
import {
  claimTarget,
  ClaimLost,
  keepClaim,
  releaseClaim,
  confirmClaim,
  renewClaim,
  type ClaimedTarget,
} from '../targets/claim-target'
import { storeFirstSnapshot } from './first-snapshot'
import { implausibleReason, type BlockReason } from '../plans/guards'
import { openTarget, readOpened, type OpenedTarget } from './read-target'
import { mayApply, recordSnapshot, type SyncOptions } from './record-snapshot'
import { countsOf, syncAudit, truncateDetail, type SyncCounts } from './sync-notices'
import { dnsTargetRrsets } from '../targets/tables'
import type { SyncState } from './three-way'
import { failingNotices, unblockAudits } from './target-failures'
import { retryAfterRead } from './retry-targets'
import { updateZoneSyncState } from '../targets/zone-sync-state'

/** Outcome of a sync. */
export type SyncOutcome =
  | { status: 'busy' | 'deleted' }
  | { status: 'failed'; code: string; detail: string; retryAfterMs: number | null }
  | { status: 'read'; blocked: BlockReason[]; isStale: boolean; counts: SyncCounts }

const nothing: SyncCounts = { created: 0, updated: 0, deleted: 0, failed: 0 }

/**
 * Reads a target, updates the state of each rrset, applies pending changes, and reads again to verify them. Only verified changes
 * count as agreed.
 */
export async function syncTarget(hub: Hub, targetId: string, options: SyncOptions): Promise<SyncOutcome> {
  const claimed = await claimTarget(hub, targetId)
  if (!claimed) return { status: claimed === null ? 'busy' : 'deleted' }
  let applied: AppliedOps | null = null
  const stopRenewing = keepClaim(hub, claimed)
  try {
    const opened = await openTarget(hub, claimed, {
      mayCreate: mayApply(options, claimed.zone),
      isInteractive: options.applies !== 'automatic',
    })
    await renewClaim(hub, claimed)
    const known = options.reads || (await isWaiting(hub, claimed)) ? null : claimed.target.remoteSerial
    const snapshot = await readOpened(opened, known)
    if (!snapshot) return await unchanged(hub, claimed)
    const doubt = options.force
      ? null
      : implausibleReason(snapshot.rrsets, await lastReading(hub, claimed, opened), opened.provider.caps)
    if (doubt) throw new ProviderError('incomplete', doubt)
    await storeFirstSnapshot(hub, claimed, opened, snapshot)
    await renewClaim(hub, claimed)
    const first = await recordSnapshot(hub, claimed, opened, snapshot, options, null)
    if (first.ops.length === 0 || first.blocked.length > 0 || first.isStale) {
      await finish(
        hub,
        claimed,
        first.isStale ? 'again' : first.blocked.length === 0 && mayApply(options, claimed.zone) ? 'done' : 'read',
      )
      return { status: 'read', blocked: first.blocked, isStale: first.isStale, counts: nothing }
    }
    await renewClaim(hub, claimed)
    applied = { ops: first.ops, results: await applyOps(hub, claimed, opened, first.ops) }
    const minimum = baselineAfter(snapshot, applied)
    await renewClaim(hub, claimed)
    const again = await opened.provider.read(opened.at)
    const loss = implausibleReason(again.rrsets, minimum, opened.provider.caps)
    if (loss) throw new ProviderError('incomplete', loss)
    await recordSnapshot(hub, claimed, opened, again, { ...options, applies: false }, applied)
    const counts = countsOf(applied.ops, applied.results)
    await finish(
      hub,
      claimed,
      counts.failed === 0 ? 'done' : wasRefused(applied) ? 'failed' : 'again',
      throttledMs(applied.results),
    )
    return { status: 'read', blocked: [], isStale: false, counts }
  } catch (error) {
    if (error instanceof ClaimLost) return { status: 'busy' }
    if (!(error instanceof ProviderError)) {
      await record(hub, async tx => ({ result: await releaseClaim(tx, claimed.claim, targetId) }))
      throw error
    }
    return await failed(hub, claimed, error, applied)
  } finally {
    stopRenewing()
  }
}

/** Baseline for the plausibility of a read. */
async function lastReading(
  hub: Hub,
  { target }: ClaimedTarget,
  { isNew }: OpenedTarget,
): Promise<{ count: number | null; hasNs: boolean }> {
  if (target.lastReadAt === null) return { count: null, hasNs: !isNew }
  const [ns] = await hub.read
    .select({ observed: dnsTargetRrsets.observed, sent: dnsTargetRrsets.sent })
    .from(dnsTargetRrsets)
    .where(and(eq(dnsTargetRrsets.targetId, target.id), eq(dnsTargetRrsets.name, '@'), eq(dnsTargetRrsets.type, 'NS')))
  const [removed] = await hub.read
    .select({ n: count() })
    .from(dnsTargetRrsets)
    .where(and(eq(dnsTargetRrsets.targetId, target.id), eq(dnsTargetRrsets.sent, '')))
  // Deletions that were sent but not verified may have happened.
  return { count: (target.lastGoodCount ?? 0) - removed!.n, hasNs: Boolean(ns?.observed && ns.sent !== '') }
}

const wasRefused = ({ results }: AppliedOps): boolean =>
  [...results.values()].some(one => one.outcome === 'refused' || one.outcome === 'unknown')

/** Baseline after applying steps: everything that existed, minus what may have been deleted. */
function baselineAfter({ rrsets }: Snapshot, { ops, results }: AppliedOps): { count: number; hasNs: boolean } {
  const removed = ops.filter(one => one.action === 'delete' && mayHaveApplied(results.get(rrsetKey(one))))
  const created = ops.filter(one => one.action === 'create' && results.get(rrsetKey(one))?.outcome === 'done')
  const isApexNs = (one: { name: string; type: string }) => one.name === '@' && one.type === 'NS'
  return { count: rrsets.length + created.length - removed.length, hasNs: rrsets.some(isApexNs) && !removed.some(isApexNs) }
}

/** Returns whether the target must be read even if its serial is unchanged. */
async function isWaiting(hub: Hub, { target, zone }: ClaimedTarget): Promise<boolean> {
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

/** Ends a sync of a target with an unchanged serial and no pending changes. */
async function unchanged(hub: Hub, claimed: ClaimedTarget): Promise<SyncOutcome> {
  const now = hub.clock.now()
  await record(hub, async tx => {
    const jobs = await retryAfterRead(tx, hub, await confirmClaim(tx, claimed, now), false)
    const well = { error: null, isStale: false, consecutiveFailures: 0, failureNotified: false }
    const set = { ...well, lastReadAt: now, nextPollAt: nextPoll(hub, claimed, now), throttledUntil: 0 }
    return { result: await releaseClaim(tx, claimed.claim, claimed.target.id, set), jobs }
  })
  return { status: 'read', blocked: [], isStale: false, counts: nothing }
}

// Don't repeat refused changes every minute, nor more often than the kind allows.
const failedPauseMs = 300_000
const againPauseMs = 10_000

/**
 * Releases the target until its next read.
 * @param end `done`: everything was applied; `failed`: the provider refused changes; `again`: the target changed meanwhile
 * @param throttledForMs the provider accepts changes again after this time; null if it doesn't report it, undefined unless it limits them
 */
async function finish(
  hub: Hub,
  claimed: ClaimedTarget,
  end: 'done' | 'read' | 'failed' | 'again',
  throttledForMs?: number | null,
): Promise<void> {
  const now = hub.clock.now()
  await record(hub, async tx => {
    const current = await confirmClaim(tx, claimed, now)
    // The read before the changes succeeded, and reset the count.
    const failures = throttledForMs === null ? claimed.target.consecutiveFailures + 1 : 0
    const again = failures > 0 ? throttlePauseMs(failures) : againPauseMs
    const pause = { done: null, read: null, failed: Math.max(failedPauseMs, kindPollMs(claimed)), again }[end]
    const nextPollAt = pause === null ? nextPoll(hub, claimed, now) : now + Math.max(pause, throttledForMs ?? 0)
    const throttledUntil = throttledForMs === undefined ? 0 : nextPollAt
    const isDone = end === 'done'
    await releaseClaim(tx, claimed.claim, claimed.target.id, {
      nextPollAt,
      throttledUntil,
      consecutiveFailures: failures,
      ...(isDone && { lastSyncAt: now, blockedFor: null }),
    })
    return {
      result: undefined,
      audits: isDone ? unblockAudits(claimed, current) : [],
      jobs: isDone ? await unblockZone(tx, claimed.zone, claimed.target) : [],
    }
  })
}

const minPauseMs = 60_000
const maxPauseMs = 3_600_000
const pauseMs = (failures: number): number => Math.min(minPauseMs * 2 ** (failures - 1), maxPauseMs)

// Rate limits are lifted sooner than outages.
const throttlePauseMs = (failures: number): number => Math.min(1_000 * 2 ** (failures - 1), minPauseMs)

// An unreachable provider most likely still serves the zone. Any other failure is a response: the zone may not be served.
const unanswered: readonly ProviderFailure[] = ['unreachable', 'timeout', 'throttled']

/**
 * Ends a sync whose target could not be read, or returned an implausible result. Rrset states are kept, and retries back off. If
 * the provider did respond, the target is in error until it is read in full.
 */
async function failed(
  hub: Hub,
  claimed: ClaimedTarget,
  { failure, message, retryAfterMs }: ProviderError,
  applied: AppliedOps | null,
): Promise<SyncOutcome> {
  const now = hub.clock.now()
  await record(hub, async tx => {
    const current = await confirmClaim(tx, claimed, now)
    const { consecutiveFailures } = current
    const detail = truncateDetail(message)
    const isStale = now - (claimed.target.lastReadAt ?? claimed.target.createdAt) > 2 * pollMs(hub, claimed)
    const notices = failingNotices(claimed, current, { failure, detail, isStale })
    const pause = failure === 'throttled' ? throttlePauseMs : pauseMs
    const retryAt = now + Math.max(pause(consecutiveFailures + 1), retryAfterMs ?? 0)
    await releaseClaim(tx, claimed.claim, claimed.target.id, {
      error: { code: failure, detail },
      ...(!unanswered.includes(failure) && { state: 'error', remoteSerial: null }),
      consecutiveFailures: consecutiveFailures + 1,
      isStale,
      failureNotified: current.failureNotified || notices.length > 0,
      nextPollAt: retryAt,
      throttledUntil: failure === 'throttled' ? retryAt : 0,
    })
    await updateZoneSyncState(tx, claimed.zone.id)
    const isChanged = applied?.ops.some(one => mayHaveApplied(applied.results.get(rrsetKey(one))))
    return {
      result: undefined,
      audits: isChanged ? [syncAudit(claimed.zone, claimed, countsOf(applied!.ops, applied!.results))] : [],
      notices,
    }
  })
  return { status: 'failed', code: failure, detail: message, retryAfterMs }
}

/** Next poll, with 10% jitter to spread the load. */
const nextPoll = (hub: Hub, claimed: ClaimedTarget, now: number): number =>
  now + Math.round(pollMs(hub, claimed) * (0.9 + Math.random() * 0.2))

const pollMs = (hub: Hub, claimed: ClaimedTarget): number => Math.max(hub.config.dnsPollSeconds * 1000, kindPollMs(claimed))

const kindPollMs = ({ provider }: ClaimedTarget): number => (providerKindOf(provider.kind)?.pollSeconds ?? 0) * 1000
