import { and, asc, eq, exists, gt, isNotNull, isNull, lt, ne, not } from 'drizzle-orm'
import { workspaces } from '../../../access/tables'
import { record, systemActor } from '../../../core/change'
import type { RecordResult } from '../../../core/change-result'
import { forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { hasFailedSince, openActionIds } from '../../actions/open-actions'
import { snapshotActionKind } from './kinds'
import { released } from './snapshot-state'
import { startDeletion } from './snapshots'
import type { SnapshotRow } from './rows'
import { snapshots } from './tables'
import { volumes } from '../volumes/tables'
import { lockVolumeOfSnapshot, releasedVolume } from '../volumes/volume-state'

const task = 'watch-storage'
const rowsPerPage = 100
// After a failed action, expired snapshots wait until they are deleted.
const retryAfterMs = 3_600_000

/** Deletes expired snapshots of workspaces that are not suspended, and frees snapshots and volumes whose action ended without a result. */
export async function watchStorage(hub: Hub): Promise<void> {
  const { expiresAt, actionId, state } = snapshots
  const now = hub.clock.now()
  const isActive = exists(
    hub.read
      .select({ id: workspaces.id })
      .from(workspaces)
      .where(and(eq(workspaces.id, snapshots.workspaceId), isNull(workspaces.suspendedAt))),
  )
  const hasFailed = hasFailedSince(hub.read, snapshots.id, snapshotActionKind('delete').type, now - retryAfterMs)
  const isFree = and(eq(snapshots.protected, false), isNull(actionId), ne(state, 'deleting'))
  const isExpired = and(lt(expiresAt, now), isFree, isActive, not(hasFailed))
  await eachRow(hub, isExpired, row => record(hub, tx => expire(tx, hub, row.id)))
  await eachRow(hub, isNotNull(actionId), async row => {
    const open = await openActionIds(hub.read, [row.actionId!])
    if (!open.has(row.actionId!)) await record(hub, tx => release(tx, row))
  })
  const busy = await hub.read.select().from(volumes).where(isNotNull(volumes.actionId)).limit(rowsPerPage)
  const open = await openActionIds(
    hub.read,
    busy.map(row => row.actionId!),
  )
  for (const { id, actionId: held } of busy) if (!open.has(held!)) await record(hub, tx => releaseVolume(tx, id, held))
}

async function releaseVolume(tx: Tx, id: string, actionId: string | null): Promise<RecordResult<undefined>> {
  const [row] = await forUpdate(tx.select().from(volumes).where(eq(volumes.id, id)))
  if (row && row.actionId === actionId) await tx.update(volumes).set(releasedVolume(row)).where(eq(volumes.id, id))
  return { result: undefined }
}

async function eachRow(
  hub: Hub,
  condition: ReturnType<typeof and>,
  visit: (row: SnapshotRow) => Promise<unknown>,
): Promise<void> {
  for (let last = ''; ;) {
    const rows = await hub.read
      .select()
      .from(snapshots)
      .where(and(gt(snapshots.id, last), condition))
      .orderBy(asc(snapshots.id))
      .limit(rowsPerPage)
    for (const row of rows) await visit(row)
    if (rows.length < rowsPerPage) return
    last = rows.at(-1)!.id
  }
}

async function expire(tx: Tx, hub: Hub, id: string): Promise<RecordResult<undefined>> {
  const volume = await lockVolumeOfSnapshot(tx, id)
  const [row] = await forUpdate(tx.select().from(snapshots).where(eq(snapshots.id, id)))
  if (!row || row.protected || row.actionId !== null || (row.expiresAt ?? Infinity) >= hub.clock.now())
    return { result: undefined }
  if (row.providerRef === null || row.state === 'missing') {
    await tx.delete(snapshots).where(eq(snapshots.id, id))
    return { result: undefined }
  }
  // Its ref may change until the action on its volume has finished.
  if (volume && volume.actionId !== null) return { result: undefined }
  const { job } = await startDeletion(tx, { hub, workspaceId: row.workspaceId, actor: systemActor(task) }, row)
  return { result: undefined, jobs: [job] }
}

async function release(tx: Tx, { id, actionId }: SnapshotRow): Promise<RecordResult<undefined>> {
  const [row] = await forUpdate(tx.select().from(snapshots).where(eq(snapshots.id, id)))
  if (row && row.actionId === actionId) await tx.update(snapshots).set(released(row)).where(eq(snapshots.id, id))
  return { result: undefined }
}
