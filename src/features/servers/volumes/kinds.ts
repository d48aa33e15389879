import { and, eq, isNull } from 'drizzle-orm'
import type { AuditAction } from '../../../core/audit-actions'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { Problem } from '../../../core/problem'
import type { ActionKind } from '../../actions/kind'
import { readPrices } from '../accounts/catalog'
import { cloudAccounts } from '../accounts/tables'
import type { CloudActionState } from '../actions/engine'
import { StorageAction, type StorageInput } from '../actions/storage-action'
import { cloudKindOf } from '../clouds'
import { isLabeled } from '../clouds/label-change'
import type { CloudVolume, VolumeCommand } from '../clouds/cloud'
import { priceProblem } from '../price-problem'
import { allowRise } from '../spend'
import { releaseSnapshots } from '../snapshots/snapshot-state'
import { snapshots } from '../snapshots/tables'
import { servers } from '../tables'
import type { VolumeRow } from './rows'
import { volumes } from './tables'
import { releasedVolume, seenVolumeColumns, volumePrice } from './volume-state'

export type VolumeActionInput = StorageInput<VolumeCommand> & {
  /** The highest price to pay, in millionths per month; null if it doesn't rise. */
  maxPriceMicros: number | null
  /** The price before; null if the action doesn't change it. */
  priceBefore: number | null
}

/** Of an action that doesn't change the price. */
export const plainInput = { maxPriceMicros: null, priceBefore: null }

/** The kind of the actions for a verb. */
export const volumeActionKind = (verb: VolumeCommand['verb']): ActionKind<VolumeActionInput, CloudActionState> => ({
  type: `volume.${verb}`,
  area: 'cloud',
  audit: `cloud.volume.${verb}` as AuditAction,
  cancelable: false,
  resumable: true,
  concurrency: 32,
  leaseMs: 300_000,
  run: (hub, work) =>
    new StorageAction<VolumeRow, CloudVolume, VolumeCommand, VolumeActionInput>(hub, work, {
      noun: 'volume',
      storage: cloud => cloud.volumes!,
      async load(id) {
        const [found] = await hub.read
          .select({ row: volumes, account: cloudAccounts })
          .from(volumes)
          .innerJoin(cloudAccounts, eq(cloudAccounts.id, volumes.accountId))
          .where(eq(volumes.id, id))
        return found ?? null
      },
      hasEnded,
      // It would overwrite what was written since.
      isRepeatable: command => command.verb !== 'restore_snapshot',
      async checkPrice(cloud, account, row) {
        const { maxPriceMicros, command } = work.input
        const sizeBytes =
          command.verb === 'create' ? command.order.sizeBytes : command.verb === 'resize' ? command.sizeBytes : null
        if (maxPriceMicros === null || sizeBytes === null || !cloudKindOf(account.kind)!.capabilities.hasPrices) return null
        const price = volumePrice(await readPrices(hub, account, cloud, null), sizeBytes)
        const problem = priceProblem(price, maxPriceMicros, row.priceCurrency)
        if (problem || !price || price.monthlyMicros <= (row.priceMicros ?? 0)) return problem
        return async tx => {
          const allowed = await allowRise(tx, account.id, price, maxPriceMicros, row.id)
          if (allowed instanceof Problem) return allowed
          const columns = { priceMicros: price.monthlyMicros, priceAt: hub.clock.now() }
          await tx.update(volumes).set(columns).where(eq(volumes.id, row.id))
          return allowed
        }
      },
      saveRef: (tx, id, ref) => tx.update(volumes).set({ providerRef: ref }).where(eq(volumes.id, id)),
      async save(tx, row, seen, isUndone) {
        await releaseSnapshots(tx, work.actionId)
        await save(tx, hub, row, seen, isUndone ? work.input.priceBefore : null)
      },
      remove: (tx, row) => tx.delete(volumes).where(eq(volumes.id, row.id)),
    }).run(),
})

export const volumeActionKinds = (
  ['create', 'attach', 'detach', 'resize', 'set_protection', 'update', 'restore_snapshot', 'delete'] as const
).map(volumeActionKind)

function hasEnded(seen: CloudVolume, command: VolumeCommand): boolean {
  switch (command.verb) {
    case 'create':
      return seen.status === 'available'
    case 'attach':
      return seen.serverRef === command.serverRef
    case 'detach':
      return seen.serverRef === null
    case 'resize':
      return (seen.sizeBytes ?? 0) >= command.sizeBytes
    case 'update':
      return (command.name === null || seen.name === command.name) && isLabeled(seen.labels, command.labels)
    case 'restore_snapshot':
      return true
    case 'set_protection':
      return seen.isProtected === command.isProtected
    case 'delete':
      return false
  }
}

/** @param priceBefore what it costs again, if the action failed; null if that is not known, or the price was not changed */
async function save(
  tx: Tx,
  hub: Hub,
  row: VolumeRow,
  seen: CloudVolume | null | undefined,
  priceBefore: number | null,
): Promise<void> {
  const now = hub.clock.now()
  const columns: Partial<VolumeRow> = seen
    ? seenVolumeColumns(seen, await serverIdOf(tx, row.accountId, seen.serverRef), now)
    : seen === null && row.providerRef !== null
      ? { state: 'missing', priceMicros: null, writtenAt: now }
      : // What may exist may also cost something.
        { ...releasedVolume(row), ...(seen === undefined && { priceMicros: row.priceMicros }) }
  const price = priceBefore === null ? {} : { priceMicros: priceBefore }
  if (seen && row.providerRef !== null && seen.ref !== row.providerRef)
    await moveSnapshots(tx, row.id, row.providerRef, seen.ref, now)
  await tx
    .update(volumes)
    .set({ ...columns, ...price, actionId: null })
    .where(eq(volumes.id, row.id))
}

/** The refs of the snapshots of a volume begin with its ref. */
async function moveSnapshots(tx: Tx, volumeId: string, from: string, to: string, now: number): Promise<void> {
  for (const { id, providerRef } of await tx.select().from(snapshots).where(eq(snapshots.volumeId, volumeId)))
    if (providerRef?.startsWith(`${from}/`))
      await tx
        .update(snapshots)
        .set({ providerRef: to + providerRef.slice(from.length), writtenAt: now })
        .where(eq(snapshots.id, id))
}

/** The server of an account with a ref; null if it is not in the workspace. */
async function serverIdOf(tx: Tx, accountId: string, ref: string | null): Promise<string | null> {
  if (ref === null) return null
  const [server] = await tx
    .select({ id: servers.id })
    .from(servers)
    .where(and(eq(servers.accountId, accountId), eq(servers.providerRef, ref), isNull(servers.deletedAt)))
  return server?.id ?? null
}
