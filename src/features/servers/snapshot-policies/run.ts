import { and, asc, eq, gt, isNull, lte, sql } from 'drizzle-orm'
import { workspaces } from '../../../access/tables'
import { planOf } from '../../../access/workspaces'
import { AdapterError } from '../../../adapters/failure'
import { addChangeHint } from '../../../core/change-hints'
import { jobContext, record, systemActor } from '../../../core/change'
import type { RecordResult } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import { forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { NoticeDraft } from '../../../core/notices'
import { expandPermissions } from '../../../core/permissions'
import { pluralize } from '../../../core/pluralize'
import { Problem } from '../../../core/problem'
import { targetOf } from '../../../core/rows'
import { startSnapshot } from '../actions/start'
import { matchesSelector, parseSelector } from '../labels'
import { startDeletion } from '../snapshots/snapshots'
import { snapshots } from '../snapshots/tables'
import { servers } from '../tables'
import { labelsOf, type ServerRow } from '../view'
import { nextRunOf, policyRows, type PolicyRow } from './policies'
import { retained } from './retention'
import type { LastRun } from './shapes'
import { snapshotPolicies } from './tables'

const task = 'run-snapshot-policies'
const rowsPerPage = 200
/** After this many runs with failures in a row, the workspace is notified. */
const failuresUntilNotice = 2

/** Starts the runs of policies that are due, and finishes those whose snapshots have been created. */
export async function runSnapshotPolicies(hub: Hub): Promise<void> {
  const running = await hub.read
    .select()
    .from(snapshotPolicies)
    .where(sql`${snapshotPolicies.lastRun} is not null`)
  for (const policy of running) if (policy.lastRun && !policy.lastRun.finished) await finishRun(hub, policy)
  const due = await hub.read
    .select({ policy: snapshotPolicies })
    .from(snapshotPolicies)
    .innerJoin(workspaces, eq(workspaces.id, snapshotPolicies.workspaceId))
    .where(and(lte(snapshotPolicies.nextAt, hub.clock.now()), isNull(workspaces.suspendedAt)))
  for (const { policy } of due) await startRun(hub, policy)
}

/** Starts snapshots of all servers. The time of the next run is stored first, so that none is started twice. */
async function startRun(hub: Hub, { id, nextAt }: PolicyRow): Promise<void> {
  const at = hub.clock.now()
  const policy = await record(hub, async tx => {
    const [row] = await forUpdate(tx.select().from(snapshotPolicies).where(eq(snapshotPolicies.id, id)))
    if (!row || row.nextAt !== nextAt || row.lastRun?.finished === false) return { result: null }
    const lastRun: LastRun = { at: new Date(at).toISOString(), made: 0, failed: [], pruned: 0, finished: false }
    await tx
      .update(snapshotPolicies)
      .set({ nextAt: nextRunOf(row, at), lastRun })
      .where(eq(snapshotPolicies.id, id))
    return { result: { ...row, lastRun } }
  })
  if (!policy) return
  const failed: LastRun['failed'] = []
  for (const server of await serversOf(hub, policy)) {
    const detail = await startFor(hub, policy, server)
    if (detail !== null) failed.push({ server_id: server.id, detail })
  }
  await record(hub, async tx => {
    await tx
      .update(snapshotPolicies)
      .set({ lastRun: { ...policy.lastRun, failed } })
      .where(eq(snapshotPolicies.id, id))
    return { result: undefined }
  })
}

/** The servers of a policy that exist at a cloud. */
async function serversOf(hub: Hub, { workspaceId, serverIds, labelSelector }: PolicyRow): Promise<ServerRow[]> {
  const selector = labelSelector === null ? null : parseSelector(labelSelector)
  const found: ServerRow[] = []
  for (let last = ''; ;) {
    const rows = await hub.read
      .select()
      .from(servers)
      .where(and(eq(servers.workspaceId, workspaceId), isNull(servers.deletedAt), gt(servers.id, last)))
      .orderBy(asc(servers.id))
      .limit(rowsPerPage)
    found.push(
      ...rows.filter(row => serverIds.includes(row.id) || (selector !== null && matchesSelector(selector, labelsOf(row)))),
    )
    if (rows.length < rowsPerPage) return found
    last = rows.at(-1)!.id
  }
}

/** @returns why no snapshot of the server could be started; null if it was */
async function startFor(hub: Hub, policy: PolicyRow, server: ServerRow): Promise<string | null> {
  const { limits, planId } = await planOf(hub.read, policy.workspaceId)
  const ctx: Ctx = {
    ...{ hub, workspaceId: policy.workspaceId, sessionId: null, actor: systemActor(task), context: jobContext },
    ...{
      permissions: expandPermissions([]),
      resourceIds: null,
      operator: false,
      limits,
      planId,
      ifMatch: null,
      idempotency: null,
    },
  }
  const { name, quiesce, maxMonthlyPrice: max, currency } = policy
  const params = {
    name: `${name} ${new Date(hub.clock.now()).toISOString().slice(0, 16).replace('T', ' ')}`.slice(0, 100),
    quiesce,
    made_by: { type: 'policy' as const, id: policy.id },
    ...(max !== null && { max_monthly_price: max, ...(currency !== null && { currency }) }),
  }
  try {
    await startSnapshot(ctx, server, params)
    return null
  } catch (error) {
    if (error instanceof Problem) return error.extras.errors?.[0]?.detail ?? error.detail
    if (error instanceof AdapterError) return error.message
    throw error
  }
}

/** Counts what was created, and deletes old snapshots of the servers that have a new one. */
async function finishRun(hub: Hub, { id }: PolicyRow): Promise<void> {
  await record(hub, async (tx): Promise<RecordResult<undefined>> => {
    const [policy] = await forUpdate(tx.select().from(snapshotPolicies).where(eq(snapshotPolicies.id, id)))
    const run = policy?.lastRun
    if (!policy || !run || run.finished) return { result: undefined }
    const own = await tx.select().from(snapshots).where(eq(snapshots.policyId, id))
    if (own.some(one => one.state === 'creating' && one.actionId !== null)) return { result: undefined }
    const startedAt = Date.parse(run.at)
    const recent = own.filter(one => one.createdAt >= startedAt)
    const made = recent.filter(one => one.state === 'available')
    const failed = [
      ...run.failed,
      ...recent
        .filter(one => one.state === 'error')
        .map(one => ({ server_id: one.serverId ?? '', detail: 'The cloud could not create the snapshot.' })),
    ]
    const pruned = await prune(tx, hub, policy, own, new Set(made.map(one => one.serverId)))
    const failures = failed.length > 0 ? policy.failures + 1 : 0
    await tx
      .update(snapshotPolicies)
      .set({ lastRun: { ...run, made: made.length, failed, pruned: pruned.length, finished: true }, failures })
      .where(eq(snapshotPolicies.id, id))
    const { workspaceId } = policy
    addChangeHint(tx, { workspaceId, action: 'cloud.snapshot_policy.update', type: 'snapshot_policy', id, parentId: null })
    return { result: undefined, jobs: pruned, notices: failures === failuresUntilNotice ? [failingNotice(policy, failed)] : [] }
  })
}

/** Deletes snapshots of a policy, of servers that have a new one. @returns the jobs */
async function prune(
  tx: Tx,
  hub: Hub,
  policy: PolicyRow,
  own: readonly (typeof snapshots.$inferSelect)[],
  renewed: ReadonlySet<string | null>,
) {
  const jobs = []
  for (const serverId of renewed) {
    // The server was deleted meanwhile. Its snapshots can't be distinguished from those of other deleted servers.
    if (serverId === null) continue
    const good = own.filter(one => one.serverId === serverId && one.state === 'available')
    const kept = retained(
      good.map(one => ({ id: one.id, at: one.takenAt ?? one.createdAt })),
      policy.keep,
    )
    for (const { id } of good) {
      if (kept.has(id)) continue
      const [row] = await forUpdate(tx.select().from(snapshots).where(eq(snapshots.id, id)))
      if (row?.state !== 'available' || row.protected || row.actionId !== null) continue
      const { job } = await startDeletion(tx, { hub, workspaceId: policy.workspaceId, actor: systemActor(task) }, row)
      jobs.push(job)
    }
  }
  return jobs
}

const failingNotice = (policy: PolicyRow, failed: LastRun['failed']): NoticeDraft => ({
  workspaceId: policy.workspaceId,
  kind: 'snapshot_policy.failing',
  resource: targetOf(policyRows, policy),
  text: `The snapshot policy ${policy.name} failed ${failuresUntilNotice} times in a row, for ${pluralize(failed.length, 'servers')}: ${failed[0]!.detail}`,
  details: { failed },
  dedupKey: policy.id,
})
