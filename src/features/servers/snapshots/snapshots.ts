import { and, eq } from 'drizzle-orm'
import { refuseOverLimit } from '../../../access/plans'
import { change } from '../../../core/change'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { forUpdate } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import { listingOf, listPage } from '../../../core/list'
import { idsFilter, searchFilter, textFilter, timeFilters, wordsFilter } from '../../../core/list-filters'
import { editableView, inputColumns, memberView, patchColumns } from '../../../core/members'
import { conflict, invalid, Problem } from '../../../core/problem'
import { changedRow, findRow, insertRow, lockRow, removeRow, saveRow, targetOf } from '../../../core/rows'
import { newId } from '../../../core/ids'
import type { ActionView } from '../../actions/shapes'
import { startAction } from '../../actions/start'
import { cloudAccounts } from '../accounts/tables'
import type { CloudAccountRow } from '../accounts/view'
import { cloudKindOf } from '../clouds'
import { isLabeled } from '../clouds/label-change'
import { priceOfRow } from '../money'
import { storageOrigins } from '../storage-shapes'
import { lockVolumeOfSnapshot, refuseBusyVolume } from '../volumes/volume-state'
import { snapshotActionKind } from './kinds'
import {
  snapshotMembers,
  snapshotStates,
  type SnapshotInput,
  type SnapshotCreator,
  type SnapshotPatch,
  type SnapshotView,
} from './shapes'
import { snapshotRows, type SnapshotRow } from './rows'
import { snapshots } from './tables'

export const snapshotListing = listingOf('snapshots', snapshots, {
  accessColumn: snapshots.serverId,
  filters: {
    ids: idsFilter(snapshots.id),
    state: wordsFilter(snapshots.state, snapshotStates, 'Only snapshots in these states.'),
    server_id: textFilter(snapshots.serverId, 'Only snapshots of this server.'),
    volume_id: textFilter(snapshots.volumeId, 'Only snapshots of this volume.'),
    account_id: textFilter(snapshots.accountId, 'Only snapshots in this cloud account.'),
    origin: wordsFilter(snapshots.origin, storageOrigins, 'Only snapshots of these origins.'),
    q: searchFilter([snapshots.name], 'Only snapshots whose name contains all words of this text.'),
    ...timeFilters('created_at', snapshots.createdAt),
  },
  sorts: ['name', 'created_at'],
})

export const snapshotView = (row: SnapshotRow): SnapshotView => ({
  id: row.id,
  ...memberView(snapshotMembers, row),
  server_id: row.serverId,
  volume_id: row.volumeId,
  account_id: row.accountId,
  provider_ref: row.providerRef,
  origin: row.origin,
  created_by: row.createdBy,
  state: row.state,
  size_bytes: row.sizeBytes,
  includes_memory: row.includesMemory,
  survives_server: row.survivesServer,
  taken_at: instant(row.takenAt),
  expires_at: instant(row.expiresAt),
  price: priceOfRow(row),
  action_id: row.actionId,
  ...editableView(row),
})

export const listSnapshots = (ctx: Ctx, query: Record<string, unknown>) => listPage(ctx, snapshotListing, query, snapshotView)

/** @throws Problem 404 */
export const getSnapshot = async (ctx: Ctx, id: string): Promise<SnapshotView> =>
  snapshotView(await findRow(ctx.hub.read, ctx, snapshotRows, id))

/** What a new snapshot has in addition to its columns for the cloud. */
export interface NewSnapshot
  extends Pick<SnapshotInput, 'name'>, Partial<Omit<SnapshotInput, 'name' | 'server_id' | 'volume_id'>> {
  /** The policy that it is created for. */
  created_by?: SnapshotCreator
}

/**
 * Inserts a snapshot that an action is about to create.
 * @throws Problem 403 `plan_limit_reached`, 422
 */
export async function insertSnapshot(
  tx: Tx,
  ctx: Ctx,
  of: { serverId: string } | { volumeId: string },
  account: CloudAccountRow,
  input: NewSnapshot,
  createdBy: SnapshotCreator,
  price: Pick<SnapshotRow, 'priceMicros' | 'priceCurrency' | 'priceAt'>,
): Promise<SnapshotRow> {
  const can = cloudKindOf(account.kind)!.capabilities.snapshots!
  await refuseOverLimit(tx, ctx, 'snapshot')
  const isOfVolume = 'volumeId' in of
  return await insertRow(tx, ctx, snapshotRows, {
    id: newId('snap'),
    ...inputColumns(snapshotMembers, input),
    accountId: account.id,
    serverId: isOfVolume ? null : of.serverId,
    volumeId: isOfVolume ? of.volumeId : null,
    providerRef: null,
    origin: 'made',
    state: 'creating',
    createdBy,
    policyId: createdBy.type === 'policy' ? createdBy.id : null,
    sizeBytes: null,
    includesMemory: input.includes_memory ?? false,
    survivesServer: !isOfVolume && can.surviveServer,
    takenAt: null,
    expiresAt: expiryOf(ctx, input.expires_at, isOfVolume ? '#/expires_at' : '#/params/expires_at'),
    ...price,
    actionId: null,
    writtenAt: ctx.hub.clock.now(),
  })
}

/** @throws Problem 422 for a time in the past */
function expiryOf(ctx: Ctx, text: string | null | undefined, pointer: string): number | null {
  if (text == null) return null
  const at = Date.parse(text)
  if (at <= ctx.hub.clock.now()) throw invalid([{ pointer, code: 'past', detail: 'must be in the future.' }])
  return at
}

/** @throws Problem 404, 412, 422 */
export const updateSnapshot = (ctx: Ctx, id: string, patch: SnapshotPatch): Promise<SnapshotView> =>
  change(ctx, 'cloud.snapshot.update', async tx => {
    const before = await lockRow(tx, ctx, snapshotRows, id)
    const { expires_at, ...members } = patch
    const after = await saveRow(tx, ctx, snapshotRows, before, {
      ...patchColumns(snapshotMembers, members),
      ...(expires_at !== undefined && { expiresAt: expiryOf(ctx, expires_at, '#/expires_at') }),
    })
    const sent = after === before ? undefined : await sendLabels(tx, ctx, before, after)
    return { ...(await changedRow(snapshotRows, before, sent?.row ?? after, snapshotView)), ...(sent && { jobs: [sent.job] }) }
  })

/** Starts the action that stores labels with a snapshot at its cloud; undefined if they are not stored there. @throws Problem 409 */
async function sendLabels(tx: Tx, ctx: Ctx, before: SnapshotRow, after: SnapshotRow) {
  const remove = Object.keys(before.labels).filter(key => !Object.hasOwn(after.labels, key))
  const labels = { set: after.labels, remove }
  if (after.origin !== 'made' || isLabeled(before.labels, labels)) return undefined
  const [account] = await tx.select().from(cloudAccounts).where(eq(cloudAccounts.id, after.accountId))
  if (!cloudKindOf(account!.kind)?.capabilities.snapshots?.labels) return undefined
  refuseBusy(before)
  if (before.providerRef === null || before.state === 'missing') return undefined
  const { action, job } = await startAction(tx, ctx, snapshotActionKind('set_labels'), {
    resources: [{ type: 'snapshot', id: after.id }],
    input: { command: { verb: 'set_labels', labels, mark: after.id } },
  })
  const columns = { actionId: action.id, writtenAt: ctx.hub.clock.now() }
  const [row] = await tx.update(snapshots).set(columns).where(eq(snapshots.id, after.id)).returning()
  return { row: row!, job }
}

/**
 * Deletes a snapshot, at its cloud too.
 * @returns the action that deletes it there; undefined if it does not exist there
 * @throws Problem 404; 409 `protected`, `resource_locked`; 412
 */
export async function deleteSnapshot(ctx: Ctx, id: string): Promise<ActionView | undefined> {
  return await change(ctx, 'cloud.snapshot.delete', async tx => {
    const volume = await lockVolumeOfSnapshot(tx, id)
    const row = await lockRow(tx, ctx, snapshotRows, id)
    if (row.protected)
      throw new Problem('protected', 'The snapshot is protected from being deleted. Update `protected` to false first.')
    refuseBusy(row)
    if (row.providerRef === null || row.state === 'missing') {
      await removeRow(tx, snapshotRows, row)
      return { result: undefined, target: targetOf(snapshotRows, row), before: snapshotView(row) }
    }
    if (volume) refuseBusyVolume(volume)
    const { action: started, job } = await startDeletion(tx, ctx, row)
    return { result: started, target: targetOf(snapshotRows, row), before: snapshotView(row), jobs: [job] }
  })
}

function refuseBusy({ actionId }: SnapshotRow): void {
  if (actionId === null) return
  throw new Problem('resource_locked', `The action ${actionId} is working on the snapshot. Wait until it has finished.`, {
    fields: { holder: actionId },
  })
}

/** Starts the action that deletes a snapshot at its cloud. */
export async function startDeletion(tx: Tx, by: Pick<Ctx, 'hub' | 'workspaceId' | 'actor'>, row: SnapshotRow) {
  const started = await startAction(tx, by, snapshotActionKind('delete'), {
    resources: [{ type: 'snapshot', id: row.id }],
    input: { command: { verb: 'delete' } },
  })
  const columns = { actionId: started.action.id, state: 'deleting' as const, writtenAt: by.hub.clock.now() }
  await tx.update(snapshots).set(columns).where(eq(snapshots.id, row.id))
  return started
}

/** Locks the snapshot that a server or volume is to be restored from. @param ownerId its id @throws Problem 409, 422 */
export async function lockSnapshotOf(tx: Tx, ctx: Ctx, ownerId: string, id: string): Promise<SnapshotRow> {
  const refuse = (detail: string) => invalid([{ pointer: '#/params/snapshot_id', code: 'not_found', detail }])
  const [row] = await forUpdate(
    tx
      .select()
      .from(snapshots)
      .where(and(eq(snapshots.id, id), eq(snapshots.workspaceId, ctx.workspaceId))),
  )
  if (!row) throw refuse('There is no snapshot with this ID.')
  if (row.serverId !== ownerId && row.volumeId !== ownerId)
    throw refuse(`It is not a snapshot of this ${ownerId.startsWith('vol_') ? 'volume' : 'server'}.`)
  refuseBusy(row)
  if (row.state !== 'available' || row.providerRef === null)
    throw conflict(`The snapshot is ${row.state}, so it can’t be restored.`)
  return row
}

/** The snapshots that would be deleted with a server. */
export async function snapshotsLostWith(read: Reader, serverId: string): Promise<SnapshotRow[]> {
  return await read
    .select()
    .from(snapshots)
    .where(and(eq(snapshots.serverId, serverId), eq(snapshots.survivesServer, false)))
}
