import { eq } from 'drizzle-orm'
import { jobContext, record, systemActor } from '../../../core/change'
import type { AuditDraft, RecordResult } from '../../../core/change-result'
import { forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { targetOf } from '../../../core/rows'
import { countStarted } from '../../actions/open-actions'
import { startAction } from '../../actions/start'
import { needsLabels, startSetLabels } from '../actions/labels'
import type { CloudServer } from '../clouds/cloud'
import { servers } from '../tables'
import { serverRows, type ServerRow } from '../view'
import { isFree, type Followed, type StoredRow } from './followed'
import { isCurrent } from './readings'
import { syncKind } from './sync-jobs'
import type { CloudAccountRow } from './view'

// Another tool may set other labels again and again.
const periodMs = 10 * 60_000
const maxPerPeriod = 3
// After a failed attempt, in milliseconds.
const retryAfterMs = 3_600_000
// Each is an action with a few requests. If more differ, the others follow with the next readings.
const maxPerReading = 20

/** Stores the labels and marks of servers that were created here at their cloud again, where they differ in a reading. */
export async function restoreLabels(
  hub: Hub,
  account: CloudAccountRow,
  matched: ReadonlyMap<ServerRow, CloudServer>,
): Promise<void> {
  let restored = 0
  for (const [row, seen] of matched) {
    if (restored === maxPerReading) return
    if (!needsLabels({ ...row, ...{ cloud: seen, status: seen.status } }, account)) continue
    const isStarted = await record(hub, tx => restore(tx, hub, row.id, account))
    if (isStarted) restored++
  }
}

async function restore(tx: Tx, hub: Hub, id: string, account: CloudAccountRow): Promise<RecordResult<boolean>> {
  const [row] = await forUpdate(tx.select().from(servers).where(eq(servers.id, id)))
  if (!row || !needsLabels(row, account) || !(await isCurrent(tx, account))) return { result: false }
  if (!(await mayRestore(tx, hub, id, 'server.set_labels'))) return { result: false }
  const by = { hub, workspaceId: row.workspaceId, actor: systemActor(syncKind) }
  const { result: action, jobs, events } = await startSetLabels(tx, by, row, account)
  const audit: AuditDraft = {
    ...{ workspaceId: row.workspaceId, action: 'cloud.server.set_labels', actor: by.actor, context: jobContext },
    ...{ targets: [targetOf(serverRows, row), { type: 'action', id: action.id, name: action.type }] },
    ...{ before: {}, after: { status: row.status }, reason },
  }
  return { result: true, jobs, events, audits: [audit] }
}

const reason = 'The labels were changed at the cloud.'

/** Whether labels were not restored too often, and not without success. @param type of the action that restores them */
async function mayRestore(tx: Tx, hub: Hub, id: string, type: string): Promise<boolean> {
  const now = hub.clock.now()
  const started = (since: number, status?: 'error') => countStarted(tx, id, type, since, status)
  return (await started(now - retryAfterMs, 'error')) === 0 && (await started(now - periodMs)) < maxPerPeriod
}

/** Like {@link restoreLabels}, for volumes or snapshots. */
export async function restoreStorageLabels(
  hub: Hub,
  account: CloudAccountRow,
  of: Followed,
  matched: ReadonlyMap<unknown, StoredRow>,
  startedAt: number,
): Promise<void> {
  let restored = 0
  for (const [seen, row] of matched) {
    if (restored === maxPerReading) return
    if (of.relabeling(row, seen, account.kind) === null) continue
    const isStarted = await record(hub, tx => restoreOne(tx, hub, account, of, row.id, seen, startedAt))
    if (isStarted) restored++
  }
}

async function restoreOne(
  tx: Tx,
  hub: Hub,
  account: CloudAccountRow,
  { type, rows, relabeling }: Followed,
  id: string,
  seen: unknown,
  startedAt: number,
): Promise<RecordResult<boolean>> {
  const { table } = rows
  const [found] = await forUpdate(tx.select().from(table).where(eq(table.id, id)))
  const row = found as StoredRow | undefined
  // What this reading has changed waits for the next one.
  if (!row || !isFree(row, startedAt) || row.state === 'missing' || !(await isCurrent(tx, account))) return { result: false }
  const wanted = relabeling(row, seen, account.kind)
  if (!wanted || !(await mayRestore(tx, hub, id, wanted.action.type))) return { result: false }
  const by = { hub, workspaceId: row.workspaceId, actor: systemActor(syncKind) }
  const { action, job } = await startAction(tx, by, wanted.action, { resources: [{ type, id }], input: wanted.input })
  await tx.update(table).set({ actionId: action.id, writtenAt: hub.clock.now() }).where(eq(table.id, id))
  const audit: AuditDraft = {
    ...{ workspaceId: row.workspaceId, action: wanted.action.audit, actor: by.actor, context: jobContext },
    ...{ targets: [targetOf(rows, row), { type: 'action', id: action.id, name: action.type }] },
    ...{ before: {}, after: {}, reason },
  }
  return { result: true, jobs: [job], audits: [audit] }
}
