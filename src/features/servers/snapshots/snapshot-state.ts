import { and, eq } from 'drizzle-orm'
import { addChangeHint } from '../../../core/change-hints'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { catalogOf, type DatedCatalog } from '../accounts/catalog'
import { openCloud } from '../accounts/open'
import { cloudAccounts } from '../accounts/tables'
import { cloudKindOf } from '../clouds'
import type { Catalog, CloudSnapshot, Price } from '../clouds/cloud'
import { priceColumns } from '../money'
import type { ServerRow } from '../view'
import { volumes } from '../volumes/tables'
import type { SnapshotRow } from './rows'
import { snapshots } from './tables'

const gibibyte = 2 ** 30

/** The price of a snapshot; null if it is not known, or for clouds without prices. */
export function snapshotPrice(catalog: Catalog | null, sizeBytes: number | null): Price | null {
  const perGb = catalog?.extras?.snapshotPerGb
  if (!perGb || sizeBytes === null) return null
  return { monthlyMicros: Math.round((perGb.monthlyMicros * sizeBytes) / gibibyte), currency: perGb.currency }
}

/** The columns that follow from what a cloud reports. */
export function seenSnapshotColumns(seen: CloudSnapshot, catalog: DatedCatalog | null, now: number) {
  const price = snapshotPrice(catalog, seen.sizeBytes)
  return {
    providerRef: seen.ref,
    state: seen.status,
    sizeBytes: seen.sizeBytes,
    includesMemory: seen.includesMemory,
    takenAt: seen.createdAt,
    writtenAt: now,
    ...(price && priceColumns(price, catalog!.readAt)),
  }
}

/** Reads a snapshot that was just created. @returns its columns; null if it does not exist @throws CloudError */
export async function readSnapshot(
  hub: Hub,
  server: Pick<ServerRow, 'accountId' | 'providerRef'>,
  order: { mark: string; name: string },
): Promise<({ id: string } & Partial<SnapshotRow>) | null> {
  const [account] = await hub.read.select().from(cloudAccounts).where(eq(cloudAccounts.id, server.accountId!))
  const cloud = account && (await openCloud(hub, account, true))
  const seen = await cloud?.snapshots?.find(order, server.providerRef)
  if (!seen) return null
  const catalog = cloudKindOf(account!.kind)!.capabilities.hasPrices ? await catalogOf(hub, account!, true) : null
  return { id: order.mark, ...seenSnapshotColumns(seen, catalog, hub.clock.now()) }
}

/** Lets go of the snapshots that an action worked on. One that it could not create has an error. */
export async function releaseSnapshots(tx: Tx, actionId: string): Promise<void> {
  const worked = await tx.select().from(snapshots).where(eq(snapshots.actionId, actionId))
  for (const row of worked) {
    await tx.update(snapshots).set(released(row)).where(eq(snapshots.id, row.id))
    const { id, workspaceId } = row
    addChangeHint(tx, { workspaceId, action: 'cloud.snapshot.follow', type: 'snapshot', id, parentId: null })
  }
}

/** The columns of a snapshot whose action has ended. */
export const released = ({ state, providerRef }: Pick<SnapshotRow, 'state' | 'providerRef'>): Partial<SnapshotRow> => ({
  actionId: null,
  ...(providerRef === null
    ? { state: 'error', priceMicros: null }
    : (state === 'restoring' || state === 'deleting') && { state: 'available' }),
})

/** Forgets the snapshots that were deleted with their server, and that its volumes were attached. */
export async function forgetStorage(tx: Tx, serverId: string): Promise<void> {
  await tx
    .update(volumes)
    .set({ serverId: null, mountPath: null, state: 'available' })
    .where(and(eq(volumes.serverId, serverId), eq(volumes.state, 'in_use')))
  await tx.delete(snapshots).where(and(eq(snapshots.serverId, serverId), eq(snapshots.survivesServer, false)))
}
