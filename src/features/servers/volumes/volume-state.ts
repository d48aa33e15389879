import { eq } from 'drizzle-orm'
import { forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import { Problem } from '../../../core/problem'
import type { DatedCatalog } from '../accounts/catalog'
import type { Catalog, CloudVolume, Price } from '../clouds/cloud'
import { priceColumns } from '../money'
import { snapshots } from '../snapshots/tables'
import type { VolumeRow } from './rows'
import { volumes } from './tables'

const gibibyte = 2 ** 30

/** The price of a volume; null if it is not known, or for clouds without prices. */
export function volumePrice(catalog: Catalog | null, sizeBytes: number | null): Price | null {
  const perGb = catalog?.extras?.volumePerGb
  if (!perGb || sizeBytes === null) return null
  return { monthlyMicros: Math.round((perGb.monthlyMicros * sizeBytes) / gibibyte), currency: perGb.currency }
}

/** The columns that follow from what a cloud reports. @param serverId of the server that it is attached to; null if it isn't known */
export function seenVolumeColumns(seen: CloudVolume, serverId: string | null, now: number): Partial<VolumeRow> {
  return {
    providerRef: seen.ref,
    name: seen.name,
    state: seen.status === 'creating' ? 'creating' : seen.serverRef === null ? 'available' : 'in_use',
    serverId,
    location: seen.location,
    sizeBytes: seen.sizeBytes,
    format: seen.format,
    device: seen.device,
    mountPath: seen.mountPath,
    isProtected: seen.isProtected,
    writtenAt: now,
  }
}

/** The columns of the price of a volume with this size. */
export const volumePriceColumns = (catalog: DatedCatalog | null, sizeBytes: number | null) => {
  const price = volumePrice(catalog, sizeBytes)
  return price ? priceColumns(price, catalog!.readAt) : {}
}

/** The columns of a volume whose action ended without telling its state. */
export const releasedVolume = ({ providerRef, serverId }: Pick<VolumeRow, 'providerRef' | 'serverId'>): Partial<VolumeRow> => ({
  actionId: null,
  ...(providerRef === null
    ? { state: 'error', priceMicros: null }
    : { state: serverId === null ? ('available' as const) : ('in_use' as const) }),
})

/** @throws Problem 409 `resource_locked` while an action works on the volume */
export function refuseBusyVolume({ actionId }: Pick<VolumeRow, 'actionId'>): void {
  if (actionId === null) return
  throw new Problem('resource_locked', `The action ${actionId} is working on the volume. Wait until it has finished.`, {
    fields: { holder: actionId },
  })
}

/**
 * Locks the volume of a snapshot before the snapshot, for an action on it: while the volume is renamed, the ref of the snapshot changes.
 * @returns the volume; undefined for a snapshot of a server, or if the volume was deleted
 */
export async function lockVolumeOfSnapshot(tx: Tx, snapshotId: string): Promise<VolumeRow | undefined> {
  const [of] = await tx.select({ id: snapshots.volumeId }).from(snapshots).where(eq(snapshots.id, snapshotId))
  if (!of?.id) return undefined
  const [volume] = await forUpdate(tx.select().from(volumes).where(eq(volumes.id, of.id)))
  return volume
}
