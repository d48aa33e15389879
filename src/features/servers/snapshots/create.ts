import { and, eq } from 'drizzle-orm'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { conflict, invalid, Problem } from '../../../core/problem'
import { canAccess } from '../../../core/resource-access'
import { lockRow, targetOf } from '../../../core/rows'
import { startAction } from '../../actions/start'
import { createServerSnapshot } from '../actions/start'
import { cloudAccounts } from '../accounts/tables'
import { cloudKindOf } from '../clouds'
import { volumeRows } from '../volumes/rows'
import { volumes } from '../volumes/tables'
import { refuseBusyVolume } from '../volumes/volume-state'
import { snapshotActionKind } from './kinds'
import { snapshotRows } from './rows'
import type { SnapshotInput, SnapshotView } from './shapes'
import { insertSnapshot, snapshotView } from './snapshots'
import { snapshots } from './tables'

/** Creates a snapshot of a server or volume. @throws Problem 403, 409, 422, 424 */
export async function createSnapshot(ctx: Ctx, input: SnapshotInput): Promise<SnapshotView> {
  const { server_id: serverId, volume_id: volumeId, ...params } = input
  if (serverId !== undefined && volumeId !== undefined)
    throw invalid([{ pointer: '#/volume_id', code: 'conflict', detail: 'can’t be combined with `server_id`.' }])
  if (volumeId !== undefined) return await createVolumeSnapshot(ctx, volumeId, params)
  if (serverId === undefined)
    throw invalid([{ pointer: '#/server_id', code: 'required', detail: 'is required without `volume_id`.' }])
  return await createServerSnapshot(ctx, serverId, params)
}

/** Volumes with snapshots are at clouds without prices. */
async function createVolumeSnapshot(
  ctx: Ctx,
  id: string,
  params: Omit<SnapshotInput, 'server_id' | 'volume_id'>,
): Promise<SnapshotView> {
  const [found] = await ctx.hub.read
    .select({ volume: volumes, account: cloudAccounts })
    .from(volumes)
    .innerJoin(cloudAccounts, eq(cloudAccounts.id, volumes.accountId))
    .where(and(eq(volumes.id, id), eq(volumes.workspaceId, ctx.workspaceId)))
  if (!found || !(ctx.resourceIds === null || (found.volume.serverId !== null && canAccess(ctx, found.volume.serverId))))
    throw invalid([{ pointer: '#/volume_id', code: 'not_found', detail: 'There is no volume with this ID.' }])
  const { account } = found
  const { title, capabilities } = cloudKindOf(account.kind)!
  if (!capabilities.volumes?.snapshots) {
    const detail = `${title} has no snapshots of volumes.`
    throw new Problem('unsupported_action', detail, {
      fields: { supported: [] },
      errors: [{ pointer: '#/volume_id', code: 'unsupported', detail }],
    })
  }
  for (const name of ['includes_memory', 'quiesce'] as const)
    if (params[name] !== undefined && params[name] !== false && params[name] !== 'none')
      throw invalid([{ pointer: `#/${name}`, code: 'unsupported', detail: 'is only for snapshots of servers.' }])
  return await change(ctx, 'cloud.snapshot.create', async tx => {
    const volume = await lockRow(tx, ctx, volumeRows, id)
    refuseBusyVolume(volume)
    if (volume.providerRef === null || (volume.state !== 'available' && volume.state !== 'in_use'))
      throw conflict(`The volume is ${volume.state}, so no snapshot of it can be created.`)
    const createdBy = { type: 'user' as const, id: ctx.actor.id ?? 'unknown' }
    const price = { priceMicros: null, priceCurrency: null, priceAt: null }
    const row = await insertSnapshot(tx, ctx, { volumeId: id }, account, params, createdBy, price)
    const { action, job } = await startAction(tx, ctx, snapshotActionKind('create'), {
      resources: [
        { type: 'snapshot', id: row.id },
        { type: 'volume', id },
      ],
      input: { command: { verb: 'create', order: { mark: row.id, name: row.name, volumeRef: volume.providerRef } } },
    })
    const [created] = await tx.update(snapshots).set({ actionId: action.id }).where(eq(snapshots.id, row.id)).returning()
    const after = snapshotView(created!)
    return { result: after, target: targetOf(snapshotRows, created!), after, jobs: [job] }
  })
}
