import { and, eq, isNull, lte } from 'drizzle-orm'
import { pruneByPlan } from '../../access/retention'
import { jobContext, record, systemActor } from '../../core/change'
import type { RecordResult } from '../../core/change-result'
import { forUpdate } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { formatDuration } from '../../core/duration'
import { pruneBatch, targetOf } from '../../core/rows'
import { flushCalls } from './calls'
import { drive } from './drive'
import { driveLinks } from './drive-links'
import { resumed } from './sources'
import { isZoneGone } from '../dns/records/driven'
import { retryHosts } from './retry-queue'
import { dynamicIpHosts, dynamicIps, dynamicIpUpdates } from './tables'
import { dynamicIpRows, hostsOfSources, linksOf, type SourceRow } from './view'

// Another hub may not have stored its last reports yet.
const staleToleranceMs = 15_000
const maxPerRun = 200

/** Stores noted reports, marks sources as stale, and ends holds. */
export async function watchSources(hub: Hub): Promise<void> {
  await flushCalls(hub)
  const now = hub.clock.now()
  const stale = await hub.read
    .select({ id: dynamicIps.id })
    .from(dynamicIps)
    .where(lte(dynamicIps.staleAt, now - staleToleranceMs))
    .limit(maxPerRun)
  for (const { id } of stale) await attempt(hub, id, tx => inLocked(tx, id, source => markStale(tx, hub, source, now)))
  const over = await hub.read
    .select({ id: dynamicIps.id })
    .from(dynamicIps)
    .where(lte(dynamicIps.heldUntil, now))
    .limit(maxPerRun)
  for (const { id } of over) await attempt(hub, id, tx => inLocked(tx, id, source => endHold(tx, hub, source, now)))
}

/** One failing source must not delay the others. */
async function attempt(hub: Hub, id: string, step: (tx: Tx) => Promise<RecordResult<undefined>>): Promise<void> {
  try {
    await record(hub, step)
  } catch (error) {
    hub.log.error({ err: error, dynamic_ip: id }, 'could not update the status of a dynamic IP source')
  }
}

/** Drives hosts whose zone was deleted, so that they get a problem, or move to a zone that was created again. */
export async function watchZones(hub: Hub): Promise<void> {
  const found = await hub.read
    .selectDistinct({ id: dynamicIpHosts.sourceId })
    .from(dynamicIpHosts)
    .where(and(isNull(dynamicIpHosts.problem), isZoneGone(dynamicIpHosts.zoneId)))
    .limit(maxPerRun)
  if (found.length > 0)
    await record(hub, async () => ({ result: undefined, jobs: found.map(one => retryHosts(one, hub.clock.now(), 0)) }))
}

async function inLocked(
  tx: Tx,
  id: string,
  step: (source: SourceRow) => Promise<RecordResult<undefined>>,
): Promise<RecordResult<undefined>> {
  const [source] = await forUpdate(tx.select().from(dynamicIps).where(eq(dynamicIps.id, id)))
  return source ? await step(source) : { result: undefined }
}

async function markStale(tx: Tx, hub: Hub, source: SourceRow, now: number): Promise<RecordResult<undefined>> {
  if (source.staleAt === null || source.staleAt > now - staleToleranceMs) return { result: undefined }
  await tx
    .update(dynamicIps)
    .set({ staleAt: null, ...(source.status === 'fresh' && { status: 'stale' as const }) })
    .where(eq(dynamicIps.id, source.id))
  if (source.status !== 'fresh') return { result: undefined }
  const removed = (await linksOf(tx, [source.id])).filter(one => one.onStale === 'remove')
  const { effects } = await driveLinks(tx, hub, source, removed, { removesAll: true })
  return {
    result: undefined,
    ...effects,
    notices: [
      ...effects.notices,
      {
        workspaceId: source.workspaceId,
        kind: 'dynamic_ip.stale',
        resource: targetOf(dynamicIpRows, source),
        text: `The dynamic IP source “${source.name}” has not reported for more than ${formatDuration(source.staleAfterSeconds! * 1000)}. Its records still have the last reported address.`,
        details: { last_seen_at: new Date(source.lastSeenAt!).toISOString() },
        dedupKey: source.id,
      },
    ],
  }
}

/** Accepts changes again. The next report sets the records. */
async function endHold(tx: Tx, hub: Hub, source: SourceRow, now: number): Promise<RecordResult<undefined>> {
  if (source.heldUntil === null || source.heldUntil > now) return { result: undefined }
  const after = { ...source, ...resumed(source, now) }
  await tx
    .update(dynamicIps)
    .set({ ...resumed(source, now), version: source.version + 1, updatedAt: now })
    .where(eq(dynamicIps.id, source.id))
  const by = { actor: systemActor('dynamic-ips.watch'), context: jobContext }
  const { effects, targets } = await drive(tx, hub, after, await hostsOfSources(tx, [source.id]), by)
  return {
    result: undefined,
    ...effects,
    audits: [
      {
        workspaceId: source.workspaceId,
        action: 'dynamic_ip.resume',
        ...by,
        targets: [targetOf(dynamicIpRows, source), ...targets],
        before: { status: source.status },
        after: { status: after.status },
      },
      ...effects.audits,
    ],
  }
}

/** Deletes entries of the history past the retention of the plan. */
export const pruneDynamicIpHistory = (hub: Hub): Promise<void> =>
  pruneByPlan(hub, 'dynamic_ip_history_days', (workspaceId, before) =>
    pruneBatch(hub, dynamicIpUpdates, and(eq(dynamicIpUpdates.workspaceId, workspaceId), lte(dynamicIpUpdates.at, before))),
  )
