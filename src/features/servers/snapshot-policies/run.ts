import { and, asc, eq, gt, gte, inArray, isNotNull, isNull, lte } from 'drizzle-orm'
import { workspaces } from '../../../access/tables'
import { systemContext } from '../../../access/system-context'
import { AdapterError } from '../../../adapters/failure'
import { addChangeHint } from '../../../core/change-hints'
import { record, systemActor } from '../../../core/change'
import type { RecordResult } from '../../../core/change-result'
import { forUpdate } from '../../../core/db/dialect'
import { jobs } from '../../../core/db/tables'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { JobDraft } from '../../../core/jobs/draft'
import type { JobKind } from '../../../core/jobs/job'
import type { NoticeDraft } from '../../../core/notices'
import { pluralize } from '../../../core/pluralize'
import { Problem } from '../../../core/problem'
import { targetOf } from '../../../core/rows'
import { startSnapshot } from '../actions/start'
import { matchesSelector, parseSelector } from '../labels'
import type { SnapshotRow } from '../snapshots/rows'
import { startDeletion } from '../snapshots/snapshots'
import { snapshots } from '../snapshots/tables'
import { servers } from '../tables'
import { labelsOf, type ServerRow } from '../view'
import { nextRunOf, policyRows, type PolicyRow } from './policies'
import { retained } from './retention'
import type { LastRun } from './shapes'
import { snapshotPolicies, type PolicyRun } from './tables'

const task = 'run-snapshot-policies'
const runKind = 'cloud.run-snapshot-policy'
const rowsPerPage = 200
// Servers or snapshots at once. Keeps transactions short, and pieces much shorter than their lease.
const perPiece = 50
// Until a run looks whether its snapshots have been created, in milliseconds: first, and then again and again.
const firstWaitMs = 5000
const waitMs = 30_000
/** After this many runs with failures in a row, the workspace is notified. */
const failuresUntilNotice = 2

/**
 * Starts the runs of policies that are due, and ends those whose job failed permanently. Each run is one job, and a policy has one run at a
 * time, whatever the number of hubs.
 */
export async function runSnapshotPolicies(hub: Hub): Promise<void> {
  const running = await hub.read.select().from(snapshotPolicies).where(isNotNull(snapshotPolicies.run))
  const open = running.length === 0 ? new Set<string>() : await openRuns(hub.read)
  for (const policy of running) if (!open.has(runOf(policy))) await record(hub, tx => endStopped(tx, policy))
  const due = await hub.read
    .select({ policy: snapshotPolicies })
    .from(snapshotPolicies)
    .innerJoin(workspaces, eq(workspaces.id, snapshotPolicies.workspaceId))
    .where(and(lte(snapshotPolicies.nextAt, hub.clock.now()), isNull(workspaces.suspendedAt)))
  for (const { policy } of due) await record(hub, tx => beginRun(tx, hub, policy))
}

const runOf = ({ id, lastRun }: Pick<PolicyRow, 'id' | 'lastRun'>): string => `${id} ${lastRun?.at}`

/** The runs that have a job which has not failed. */
async function openRuns(read: Reader): Promise<Set<string>> {
  const rows = await read
    .select({ payload: jobs.payload })
    .from(jobs)
    .where(and(inArray(jobs.state, ['ready', 'running']), eq(jobs.kind, runKind)))
  return new Set(rows.map(({ payload }) => `${payload.snapshot_policy_id} ${payload.at}`))
}

/** Ends a run that has no job anymore. */
async function endStopped(tx: Tx, { id, lastRun }: PolicyRow): Promise<RecordResult<undefined>> {
  await forUpdate(tx.select({ id: snapshotPolicies.id }).from(snapshotPolicies).where(eq(snapshotPolicies.id, id)))
  const policy = lastRun && (await runningPolicy(tx, id, lastRun.at))
  // It may have ended, or continued, since it was read.
  if (!policy || (await openRuns(tx)).has(runOf(policy))) return { result: undefined }
  const detail = 'The run ended early, because its background job failed permanently.'
  return await endRun(tx, policy, { ...policy.lastRun, failed: [...policy.lastRun.failed, { server_id: null, detail }] })
}

async function beginRun(tx: Tx, hub: Hub, { id, nextAt }: PolicyRow): Promise<RecordResult<undefined>> {
  const now = hub.clock.now()
  const [row] = await forUpdate(tx.select().from(snapshotPolicies).where(eq(snapshotPolicies.id, id)))
  if (!row || row.nextAt !== nextAt || row.run !== null) return { result: undefined }
  const at = new Date(now).toISOString()
  await tx
    .update(snapshotPolicies)
    .set({
      nextAt: nextRunOf(row, now),
      lastRun: { at, made: 0, failed: [], pruned: 0, finished: false },
      run: { phase: 'start', after: '' },
    })
    .where(eq(snapshotPolicies.id, id))
  return { result: undefined, jobs: [{ kind: runKind, payload: { snapshot_policy_id: id, at } }] }
}

interface RunOf {
  snapshot_policy_id: string
  /** Which run it is. */
  at: string
}

/** A policy that is running. */
type RunningPolicy = PolicyRow & { run: PolicyRun; lastRun: LastRun }

/**
 * A run of a policy: starts snapshots of all its servers, waits until they have been created, and deletes old ones. It does so in pieces,
 * each recorded together with the job, so that none is lost or done twice.
 */
export const runPolicyJob: JobKind<RunOf> = {
  kind: runKind,
  concurrency: 8,
  leaseMs: 10 * 60_000,
  retryAfter: attempts => Math.min(attempts, 10) * 60_000,
  async run(hub, { payload: { snapshot_policy_id: id, at } }) {
    const policy = await runningPolicy(hub.read, id, at)
    if (!policy) return undefined
    const piece = await nextPiece(hub, policy)
    return async tx => {
      const [row] = await forUpdate(
        tx.select({ id: snapshotPolicies.id }).from(snapshotPolicies).where(eq(snapshotPolicies.id, id)),
      )
      const current = row && (await runningPolicy(tx, id, at))
      return current ? await piece(tx, current) : { result: undefined }
    }
  },
}

/** Null if the run has ended, or the policy was deleted. */
async function runningPolicy(read: Reader, id: string, at: string): Promise<RunningPolicy | null> {
  const [row] = await read.select().from(snapshotPolicies).where(eq(snapshotPolicies.id, id))
  return row?.run && row.lastRun?.at === at ? (row as RunningPolicy) : null
}

type Piece = (tx: Tx, policy: RunningPolicy) => Promise<RecordResult<{ again: number } | undefined>>

async function nextPiece(hub: Hub, policy: RunningPolicy): Promise<Piece> {
  if (policy.run.phase === 'start') return await startSome(hub, policy, policy.run.after)
  if (policy.run.phase === 'wait') return await checkCreated(hub, policy)
  return await pruneSome(hub, policy)
}

/** Stores how far a run is, and continues it. */
async function continueRun(tx: Tx, { id }: PolicyRow, columns: Partial<PolicyRow>, again: number) {
  await tx.update(snapshotPolicies).set(columns).where(eq(snapshotPolicies.id, id))
  return { result: { again } }
}

/** Starts snapshots of some servers. */
async function startSome(hub: Hub, policy: RunningPolicy, after: string): Promise<Piece> {
  const { found, next } = await serversOf(hub, policy, after)
  const started = new Set((await snapshotsOfRun(hub, policy)).map(one => one.serverId))
  const failed: LastRun['failed'] = []
  for (const server of found) {
    // An earlier attempt was interrupted after it.
    if (started.has(server.id)) continue
    const detail = await startFor(hub, policy, server)
    if (detail !== null) failed.push({ server_id: server.id, detail })
  }
  const run: PolicyRun = next === null ? { phase: 'wait' } : { phase: 'start', after: next }
  return (tx, now) => {
    const lastRun = { ...now.lastRun, failed: [...now.lastRun.failed, ...failed] }
    return continueRun(tx, now, { run, lastRun }, hub.clock.now() + (next === null ? firstWaitMs : 0))
  }
}

/** The snapshots that a run has started. */
const snapshotsOfRun = (hub: Hub, { id, lastRun }: RunningPolicy) =>
  hub.read
    .select()
    .from(snapshots)
    .where(and(eq(snapshots.policyId, id), gte(snapshots.createdAt, Date.parse(lastRun.at))))

/** Some servers of a policy that exist at a cloud, in the order of their ids. @returns `next`: the last id; null at the end */
async function serversOf(
  hub: Hub,
  { workspaceId, serverIds, labelSelector }: PolicyRow,
  after: string,
): Promise<{ found: ServerRow[]; next: string | null }> {
  const selector = labelSelector === null ? null : parseSelector(labelSelector)
  const found: ServerRow[] = []
  for (let last = after; ;) {
    const rows = await hub.read
      .select()
      .from(servers)
      .where(and(eq(servers.workspaceId, workspaceId), isNull(servers.deletedAt), gt(servers.id, last)))
      .orderBy(asc(servers.id))
      .limit(rowsPerPage)
    for (const row of rows) {
      last = row.id
      if (serverIds.includes(row.id) || (selector !== null && matchesSelector(selector, labelsOf(row)))) found.push(row)
      if (found.length === perPiece) return { found, next: last }
    }
    if (rows.length < rowsPerPage) return { found, next: null }
  }
}

/** @returns why no snapshot of the server could be started; null if it was */
async function startFor(hub: Hub, policy: PolicyRow, server: ServerRow): Promise<string | null> {
  const ctx = await systemContext(hub, policy.workspaceId, task)
  const { name, quiesce, maxMonthlyPrice: max, currency } = policy
  const params = {
    name: `${name} ${new Date(hub.clock.now()).toISOString().slice(0, 16).replace('T', ' ')}`.slice(0, 100),
    quiesce,
    created_by: { type: 'policy' as const, id: policy.id },
    ...(max !== null && { max_monthly_price: max, ...(currency !== null && { currency }) }),
  }
  try {
    await startSnapshot(ctx, server, params)
    return null
  } catch (error) {
    if (error instanceof Problem) return error.detail
    if (error instanceof AdapterError) return error.message
    throw error
  }
}

/** Counts what was created, once nothing is being created anymore. */
async function checkCreated(hub: Hub, policy: RunningPolicy): Promise<Piece> {
  const recent = await snapshotsOfRun(hub, policy)
  if (recent.some(one => one.state === 'creating' && one.actionId !== null))
    return (tx, now) => continueRun(tx, now, {}, hub.clock.now() + waitMs)
  const made = recent.filter(one => one.state === 'available').length
  const failed = recent
    .filter(one => one.state === 'error')
    .map(one => ({ server_id: one.serverId, detail: 'The cloud could not create the snapshot.' }))
  return (tx, now) => {
    const lastRun = { ...now.lastRun, made, failed: [...now.lastRun.failed, ...failed] }
    return continueRun(tx, now, { lastRun, run: { phase: 'prune' } }, hub.clock.now())
  }
}

/** Deletes some old snapshots of the servers that have a new one, and ends the run after the last one. */
async function pruneSome(hub: Hub, policy: RunningPolicy): Promise<Piece> {
  const old = await expendable(hub, policy)
  return async (tx, now) => {
    const jobs = await prune(tx, hub, now, old.slice(0, perPiece))
    const lastRun = { ...now.lastRun, pruned: now.lastRun.pruned + jobs.length }
    if (old.length > perPiece) return { ...(await continueRun(tx, now, { lastRun }, hub.clock.now())), jobs }
    return { ...(await endRun(tx, now, lastRun)), jobs }
  }
}

async function endRun(tx: Tx, policy: RunningPolicy, lastRun: LastRun): Promise<RecordResult<undefined>> {
  const { id, workspaceId } = policy
  const failures = lastRun.failed.length > 0 ? policy.failures + 1 : 0
  await tx
    .update(snapshotPolicies)
    .set({ lastRun: { ...lastRun, finished: true }, run: null, failures })
    .where(eq(snapshotPolicies.id, id))
  addChangeHint(tx, { workspaceId, action: 'cloud.snapshot_policy.update', type: 'snapshot_policy', id, parentId: null })
  return { result: undefined, notices: failures === failuresUntilNotice ? [failingNotice(policy, lastRun.failed)] : [] }
}

/** The snapshots of a policy that it does not keep, of servers that have a new one. */
async function expendable(hub: Hub, policy: RunningPolicy): Promise<string[]> {
  const good = await hub.read
    .select()
    .from(snapshots)
    .where(and(eq(snapshots.policyId, policy.id), eq(snapshots.state, 'available')))
  const isNew = (row: SnapshotRow) => row.createdAt >= Date.parse(policy.lastRun.at)
  // Without a server: it was deleted meanwhile, and its snapshots can't be distinguished from those of other deleted servers.
  const renewed = new Set(good.filter(one => one.serverId !== null && isNew(one)).map(one => one.serverId))
  const old: string[] = []
  for (const serverId of renewed) {
    const own = good.filter(one => one.serverId === serverId)
    const kept = retained(
      own.map(one => ({ id: one.id, at: one.takenAt ?? one.createdAt })),
      policy.keep,
    )
    old.push(...own.filter(one => !kept.has(one.id) && !one.protected && one.actionId === null).map(one => one.id))
  }
  return old.sort()
}

/** Starts deleting snapshots. @returns the jobs */
async function prune(tx: Tx, hub: Hub, { workspaceId }: PolicyRow, ids: readonly string[]): Promise<JobDraft[]> {
  const jobs: JobDraft[] = []
  for (const id of ids) {
    const [row] = await forUpdate(tx.select().from(snapshots).where(eq(snapshots.id, id)))
    if (row?.state !== 'available' || row.protected || row.actionId !== null) continue
    const { job } = await startDeletion(tx, { hub, workspaceId, actor: systemActor(task) }, row)
    jobs.push(job)
  }
  return jobs
}

const failingNotice = (policy: PolicyRow, failed: LastRun['failed']): NoticeDraft => ({
  workspaceId: policy.workspaceId,
  kind: 'snapshot_policy.failing',
  resource: targetOf(policyRows, policy),
  text: `The snapshot policy ${policy.name} failed ${failuresUntilNotice} times in a row, with ${pluralize(failed.length, 'errors')} in the last run: ${failed[0]!.detail}`,
  details: { failed },
  dedupKey: policy.id,
})
