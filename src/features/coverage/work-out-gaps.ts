import { and, asc, eq, gt, inArray, lt } from 'drizzle-orm'
import { auditDrafts, isUnchanged, jobContext, record, systemActor } from '../../core/change'
import type { AuditDraft, EventDraft, RecordResult } from '../../core/change-result'
import { forUpdate } from '../../core/db/dialect'
import { rowsInBatches } from '../../core/db/rows-in-batches'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { JobKind } from '../../core/jobs/job'
import { insertRow, pruneRows, saveRow, targetOf } from '../../core/rows'
import { runInSlices } from '../../core/time-slices'
import { followingEndpoints, followTargets } from '../tls-endpoints/following'
import { scanAgain } from '../tls-endpoints/scans/scan-again'
import { gapRows, unacknowledged } from './certificate-gaps'
import { followGaps, type GapChange } from './gap-incidents'
import { gapEvent, gapRank, lockGaps, timelineWith } from './gap-rows'
import { gapsOf, nextChange, type FoundGap } from './gaps'
import { gapSeverities } from './kinds'
import { changesOf } from './changes-of'
import { saveCoverage } from './coverage'
import { coveredNames } from './covered-names'
import { sourcesOf } from './load'
import { gapsJobAt, gapsJobKind } from '../certificates/gaps-job'
import { confirmAfterMs, reconcile, type GapStep } from './reconcile'
import { certificateGaps, type GapRow } from './tables'

/** At most this many gaps of a workspace are stored, the most severe first. */
const maxGaps = 10_000
/** How long resolved gaps are kept (ms). */
const keptMs = 90 * 86_400_000

/** Works out the gaps of a workspace, and opens, updates, and resolves what is stored. Repeated runs change nothing. */
export const workOutGapsJob: JobKind<{ workspace_id: string }> = {
  kind: gapsJobKind,
  concurrency: 1,
  leaseMs: 300_000,
  retryAfter: attempts => (attempts < 5 ? 60_000 * attempts : null),
  async run(hub, { payload }) {
    const next = await workOutGaps(hub, payload.workspace_id)
    return next === null ? undefined : async () => ({ result: undefined, jobs: [gapsJobAt(payload.workspace_id, next)] })
  },
}

/** @returns when the gaps change by themselves (ms UTC) */
async function workOutGaps(hub: Hub, workspaceId: string): Promise<number | null> {
  const { gapSources: sources, wanted } = await sourcesOf(hub.read, workspaceId)
  const { expected, certificates, endpoints } = sources
  const names = await runInSlices(coveredNames(expected, certificates.values(), endpoints, hub.clock.now()))
  await saveCoverage(hub, workspaceId, names)
  const all = await runInSlices(gapsOf(sources, hub.clock.now()))
  const found = new Map(mostSevere(all).map(one => [one.key, one]))
  const stored = await storedGaps(hub.read, workspaceId)
  const byId = new Map(stored.map(one => [one.id, one]))
  const steps = await runInSlices(reconcile([...found.values()], stored, hub.clock.now()))
  const changed = steps.flatMap(step => {
    const row = step.do === 'add' ? null : byId.get(step.id)!
    return row && step.do === 'keep' && isUnchanged(row, columnsOf(step, row)) ? [] : [row ?? (step as { found: FoundGap }).found]
  })
  for (const keys of changesOf(changed, found)) {
    const those = keys.flatMap(key => found.get(key) ?? [])
    await record(hub, tx => writeGaps(tx, hub, workspaceId, keys, those))
  }
  await followTargets(hub, wanted, await followingEndpoints(hub.read, 'coverage', workspaceId), {
    ...{
      workspaceId,
      origin: 'coverage',
      task: gapsJobKind,
      whenGone: 'Its name no longer needs a certificate, or another endpoint scans it.',
    },
  })
  return await runInSlices(nextChange(sources, hub.clock.now()))
}

function mostSevere(all: readonly FoundGap[]): readonly FoundGap[] {
  if (all.length <= maxGaps) return all
  return gapSeverities.flatMap(severity => all.filter(one => one.severity === severity)).slice(0, maxGaps)
}

const storedGaps = (read: Reader, workspaceId: string): Promise<GapRow[]> =>
  rowsInBatches((after, max) =>
    read
      .select()
      .from(certificateGaps)
      .where(and(eq(certificateGaps.workspaceId, workspaceId), gt(certificateGaps.id, after)))
      .orderBy(asc(certificateGaps.id))
      .limit(max),
  )

/** Writes some gaps. Decides again with the rows as they are now: someone may have acknowledged one in the meantime. */
async function writeGaps(
  tx: Tx,
  hub: Hub,
  workspaceId: string,
  keys: readonly string[],
  found: readonly FoundGap[],
): Promise<RecordResult<undefined>> {
  await lockGaps(tx, workspaceId)
  const now = hub.clock.now()
  const own = and(eq(certificateGaps.workspaceId, workspaceId), inArray(certificateGaps.key, [...keys]))
  const rows = await forUpdate(tx.select().from(certificateGaps).where(own).orderBy(asc(certificateGaps.id)))
  const byId = new Map(rows.map(one => [one.id, one]))
  const ctx = { hub, workspaceId }
  const events: EventDraft[] = []
  const audits: AuditDraft[] = []
  const changes: GapChange[] = []
  // Endpoints by the time at which a scan can confirm what was found there.
  const toConfirm = new Map<number, string[]>()
  for (const step of await runInSlices(reconcile(found, rows, now))) {
    const scan = confirmingScan(step, now)
    if (scan) toConfirm.set(scan.at, [...(toConfirm.get(scan.at) ?? []), scan.endpointId])
    if (step.do === 'add') {
      const row = await insertRow(tx, ctx, gapRows, newColumns(step, now))
      if (row.status === 'open') events.push(gapEvent(row, now))
      changes.push({ before: null, after: row })
      continue
    }
    const before = byId.get(step.id)!
    if (step.do === 'forget') {
      await tx.delete(certificateGaps).where(eq(certificateGaps.id, step.id))
      continue
    }
    const after = await saveRow(tx, ctx, gapRows, before, changedColumns(step, before, now))
    changes.push({ before, after })
    if (after.status !== before.status) events.push(gapEvent(after, now))
    if (before.status === 'acknowledged' && after.status === 'open') audits.push(...expired(before, after))
  }
  for (const [at, ids] of toConfirm) await scanAgain(tx, workspaceId, ids, at)
  const { events: more, jobs, audits: others, notices, wakes } = await followGaps(tx, hub, changes, { now })
  return {
    ...{ result: undefined, events: [...events, ...more], audits: [...audits, ...others] },
    ...{ jobs, notices, wakeTopics: wakes },
  }
}

/**
 * The scan that can confirm what a gap waits for. None is needed if its time has passed: the endpoint is scanned on schedule. A certificate
 * that has expired or was revoked since the last scan is confirmed at once.
 */
function confirmingScan(step: GapStep, now: number): { endpointId: string; at: number } | null {
  if (step.do !== 'add' && step.do !== 'keep') return null
  const since = step.do === 'keep' ? step.observedAt : step.found.observedAt
  const { endpointId } = step.found
  if (since === null || endpointId === null) return null
  if (since + confirmAfterMs > now) return { endpointId, at: since + confirmAfterMs }
  return step.do === 'add' && step.found.severity === 'critical' ? { endpointId, at: now } : null
}

const expired = (before: GapRow, after: GapRow): AuditDraft[] =>
  auditDrafts(
    { workspaceId: after.workspaceId, actor: systemActor(gapsJobKind), context: jobContext },
    'certificates.gap.unacknowledge',
    {
      result: undefined,
      target: targetOf(gapRows, after),
      before: { status: before.status, severity: before.severity },
      after: { status: after.status, severity: after.severity },
      reason: endOfAcknowledgement(before, after),
    },
  )

const foundColumns = ({ key, kind, severity, name, zoneId, endpointId, certificateId, serverId, ...more }: FoundGap) => ({
  ...{ key, kind, severity, name, zoneId, endpointId, certificateId, serverId },
  ...{ detail: more.detail, fix: more.fix, evidence: { ...more.evidence }, isIssuable: more.isIssuable },
})

const newColumns = ({ found, status }: GapStep & { do: 'add' }, now: number) => ({
  ...foundColumns(found),
  ...unacknowledged,
  ...{ status, rank: gapRank({ status, severity: found.severity }), openedAt: now, resolvedAt: null, incidentId: null },
  observedAt: status === 'pending' ? found.observedAt : null,
  timeline: status === 'open' ? timelineWith([], { at: now, kind: 'opened', text: found.detail }) : [],
})

const columnsOf = ({ found, status, observedAt }: GapStep & { do: 'keep' }, before: GapRow) => ({
  // A resolved one keeps what it was about until it opens again.
  ...(status === 'resolved' ? { severity: before.severity } : foundColumns(found)),
  ...{ status, observedAt },
})

function changedColumns(step: GapStep & { do: 'keep' | 'resolve' }, before: GapRow, now: number): Partial<GapRow> {
  if (step.do === 'resolve') {
    const isNew = before.status !== 'resolved'
    const { severity } = before
    const timeline = timelineWith(before.timeline, { at: now, kind: 'resolved', text: 'It no longer exists.' })
    return {
      ...{ status: 'resolved', rank: gapRank({ status: 'resolved', severity }), observedAt: null },
      ...(isNew && { ...unacknowledged, resolvedAt: now, timeline }),
    }
  }
  const columns = columnsOf(step, before)
  if (step.status !== 'open' || before.status === 'open') return { ...columns, rank: gapRank(columns) }
  const wasAcknowledged = before.status === 'acknowledged'
  const entry = wasAcknowledged
    ? ({ at: now, kind: 'unacknowledged', text: endOfAcknowledgement(before, step.found) } as const)
    : ({ at: now, kind: 'opened', text: step.found.detail } as const)
  return {
    ...columns,
    ...unacknowledged,
    ...{ rank: gapRank(columns), timeline: timelineWith(before.timeline, entry) },
    ...(!wasAcknowledged && { openedAt: now, resolvedAt: null }),
  }
}

const endOfAcknowledgement = (before: Pick<GapRow, 'severity'>, after: Pick<GapRow, 'severity'>): string =>
  before.severity === after.severity ? 'The acknowledgement expired.' : 'It became more severe.'

export const pruneGaps = (hub: Hub): Promise<void> =>
  pruneRows(
    hub,
    certificateGaps,
    and(eq(certificateGaps.status, 'resolved'), lt(certificateGaps.resolvedAt, hub.clock.now() - keptMs)),
    certificateGaps.resolvedAt,
  )
