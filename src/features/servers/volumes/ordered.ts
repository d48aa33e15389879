import { and, asc, eq, inArray } from 'drizzle-orm'
import { addChangeHint } from '../../../core/change-hints'
import type { Ctx } from '../../../core/ctx'
import { forUpdate } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { FieldProblem } from '../../../core/problem'
import type { CloudAccountRow } from '../accounts/view'
import { cloudKindOf } from '../clouds'
import type { ServerOrderView } from '../shapes'
import type { VolumeRow } from './rows'
import { volumes } from './tables'
import { releasedVolume } from './volume-state'

type Order = Pick<ServerOrderView, 'volume_ids' | 'location' | 'fallback_locations'>

/**
 * The volumes that a new server is to have, in the order of the request, and why some can't be attached to it.
 * @param isLocking whether they are locked until the transaction ends
 */
export async function orderedVolumes(
  read: Reader,
  ctx: Pick<Ctx, 'workspaceId' | 'resourceIds'>,
  { id: accountId, kind }: Pick<CloudAccountRow, 'id' | 'kind'>,
  { volume_ids: ids, location, fallback_locations: fallbacks }: Order,
  isLocking = false,
): Promise<{ rows: VolumeRow[]; problems: FieldProblem[] }> {
  if (ids.length === 0) return { rows: [], problems: [] }
  const { title, capabilities } = cloudKindOf(kind)!
  const refused = (pointer: string, code: string, detail: string): FieldProblem => ({ pointer: `#/${pointer}`, code, detail })
  if (!capabilities.volumes)
    return {
      rows: [],
      problems: [refused('volume_ids', 'unsupported', `${title} has no volumes: disks belong to their server.`)],
    }
  // Restricted tokens see a volume only by its server, and these have none.
  const query = read
    .select()
    .from(volumes)
    .where(and(inArray(volumes.id, ids), eq(volumes.workspaceId, ctx.workspaceId)))
    .orderBy(asc(volumes.id))
  const found = ctx.resourceIds === null ? await (isLocking ? forUpdate(query) : query) : []
  const problems = ids.flatMap((id, at): FieldProblem[] => {
    const row = found.find(one => one.id === id)
    const refuse = (code: string, detail: string) => [refused(`volume_ids/${at}`, code, detail)]
    if (!row) return refuse('not_found', 'There is no volume with this ID.')
    if (row.accountId !== accountId) return refuse('account', 'The volume must be in the same cloud account as the server.')
    if (row.state !== 'available' || row.actionId !== null)
      return refuse('status', `The volume is ${row.state}, but must be available.`)
    if (row.location === null || location === null || row.location === location) return []
    return refuse('location', `The volume is in ${row.location}, but the server is ordered in ${location}.`)
  })
  const places = new Set(found.flatMap(one => one.location ?? []))
  for (const [at, place] of fallbacks.entries())
    if (places.size > 0 && !places.has(place))
      problems.push(
        refused(`fallback_locations/${at}`, 'location', `The volumes are in ${[...places].join(', ')}, and can’t be moved.`),
      )
  return { rows: ids.flatMap(id => found.find(one => one.id === id) ?? []), problems }
}

/** Marks volumes as those that an action attaches to a new server. @param ids of volumes that are locked */
export async function holdVolumes(tx: Tx, ids: readonly string[], actionId: string, now: number): Promise<void> {
  if (ids.length === 0) return
  await tx
    .update(volumes)
    .set({ actionId, state: 'attaching', writtenAt: now })
    .where(inArray(volumes.id, [...ids]))
}

/** Lets go of the volumes that an action attached to a new server. @param serverId null if it could not be created */
export async function releaseOrderedVolumes(tx: Tx, actionId: string, serverId: string | null, now: number): Promise<void> {
  const held = await forUpdate(
    tx
      .select()
      .from(volumes)
      .where(and(eq(volumes.actionId, actionId), eq(volumes.state, 'attaching')))
      .orderBy(asc(volumes.id)),
  )
  for (const row of held) {
    await tx
      .update(volumes)
      .set({ ...releasedVolume({ ...row, serverId }), serverId, writtenAt: now })
      .where(eq(volumes.id, row.id))
    const { id, workspaceId } = row
    addChangeHint(tx, { workspaceId, action: 'cloud.volume.follow', type: 'volume', id, parentId: null })
  }
}
