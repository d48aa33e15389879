import { and, eq, inArray, or } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { pluralize } from '../../../core/pluralize'
import { conflict } from '../../../core/problem'
import { openCloud } from '../accounts/open'
import type { CloudAccountRow } from '../accounts/view'
import { snapshots } from './tables'

/**
 * Names of the snapshots that keep a server or volume from being restored from an older one; null if its storage can restore all.
 * @param ownerId of the server or volume
 * @throws CloudError
 */
export async function newerSnapshotsOf(
  hub: Hub,
  account: CloudAccountRow,
  ownerId: string,
  id: string,
): Promise<string[] | null> {
  const known = await hub.read
    .select({ id: snapshots.id, ref: snapshots.providerRef, name: snapshots.name })
    .from(snapshots)
    .where(or(eq(snapshots.serverId, ownerId), eq(snapshots.volumeId, ownerId)))
  const ref = known.find(one => one.id === id)?.ref ?? null
  const cloud = await openCloud(hub, account, true)
  if (ref === null || !cloud.newerSnapshots) return null
  const newer = await cloud.newerSnapshots(ref)
  return newer && newer.map(one => known.find(each => each.ref === one.ref)?.name ?? one.name)
}

const maxShown = 10

/** @throws Problem 409 if there are newer snapshots, which have to be deleted first */
export function refuseNewer(newer: readonly string[] | null | undefined): void {
  if (!newer || newer.length === 0) return
  const shown = newer.length > maxShown ? `${newer.slice(0, maxShown).join(', ')}, …` : newer.join(', ')
  throw conflict(
    `The storage (ZFS) can only restore the newest snapshot. Delete ${pluralize(newer.length, 'newer snapshots')} first: ${shown}.`,
  )
}

/** Marks snapshots as those that an action works on. @param ids of snapshots that are locked, or new */
export async function holdSnapshots(tx: Tx, ids: readonly string[], actionId: string): Promise<void> {
  if (ids.length === 0) return
  await tx
    .update(snapshots)
    .set({ actionId })
    .where(inArray(snapshots.id, [...ids]))
  await tx
    .update(snapshots)
    .set({ state: 'restoring' })
    .where(and(eq(snapshots.actionId, actionId), eq(snapshots.state, 'available')))
}
