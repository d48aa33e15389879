import { and, asc, desc, eq, max, ne } from 'drizzle-orm'
import { workspaces } from '../../access/tables'
import { pluralize } from '../../core/pluralize'
import { record } from '../../core/change'
import { instant } from '../../core/clock'
import { forUpdate } from '../../core/db/dialect'
import { dataKeys, instanceFacts } from '../../core/db/tables'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { DecryptionFailed, type DataKeyRow, type Place } from '../../core/secrets'
import { sealedColumns, type SealedColumn } from './sealed-columns'
import { isUsed, keyIdOf, valuesOf, type SealedValue } from './sealed-values'
import { keyAuditDraft, type KeyActor } from './key-status'

interface RotateDataOptions {
  by: KeyActor
  /** Defaults to all workspaces. */
  workspaceId?: string
  /** How long to keep unused keys before deleting them, for concurrent reads. */
  graceMs: number
  report(line: string): void
}

/** What a rotation of data keys will do or has done. */
interface DataRotation {
  /** When the rotation was started; keys older than this are replaced. Null if none is running. */
  startedAt: number | null
  workspaces: number
  /** Values to re-encrypt. */
  values: number
  /** Keys to delete. */
  keys: number
}

/** Returns what `rotateData` would do now. */
export async function dataRotation(hub: Hub, workspaceId?: string): Promise<DataRotation> {
  const startedAt = await startOf(hub.read, workspaceId)
  const plan: DataRotation = { startedAt, workspaces: 0, values: 0, keys: 0 }
  for (const id of await workspaceIds(hub, workspaceId)) {
    const keys = await keysOf(hub.read, id)
    if (keys.length === 0) continue
    plan.workspaces++
    const currentId = startedAt !== null && keys[0]!.createdAt >= startedAt ? keys[0]!.id : null
    plan.keys += keys.filter(key => key.id !== currentId).length
    for (const column of sealedColumns) {
      for await (const batch of valuesOf(hub.read, column, id))
        plan.values += batch.filter(one => keyIdOf(one.sealed) !== currentId).length
    }
  }
  return plan
}

/**
 * Creates a new data key for each workspace, re-encrypts all its values and deletes the old keys, while hubs are running. Can be
 * interrupted at any time and continues if run again for the same workspaces. Does not overwrite values changed in the meantime.
 * @throws DecryptionFailed if a value can't be decrypted; its key is then kept
 */
export async function rotateData(hub: Hub, options: RotateDataOptions): Promise<DataRotation> {
  const { by, workspaceId, report } = options
  const startedAt = await startRotation(hub, by, workspaceId)
  if (startedAt.resumed) report(`Resuming the rotation started at ${instant(startedAt.at)}.`)
  const done: DataRotation = { startedAt: startedAt.at, workspaces: 0, values: 0, keys: 0 }
  const ids = await workspaceIds(hub, workspaceId)
  for (const id of ids) {
    const key = await record(hub, async tx => ({ result: await renewedKey(tx, hub, id, startedAt.at) }))
    if (!key) continue
    const values = await resealValues(hub, key)
    done.workspaces++
    done.values += values
    report(`${id}: re-encrypted ${pluralize(values, 'values')} with the new key ${key.id}.`)
  }
  // A hub may have read a value before it was re-encrypted, and still need its old key.
  if (done.workspaces > 0) await Bun.sleep(options.graceMs)
  for (const id of ids) done.keys += await retireKeys(hub, id)
  await record(hub, async tx => {
    await tx.delete(instanceFacts).where(eq(instanceFacts.name, factOf(workspaceId)))
    const after = { workspaces: done.workspaces, values: done.values, keys_deleted: done.keys }
    return {
      result: undefined,
      audits: [await keyAuditDraft(tx, by, 'account.data_keys.rotate', { id: workspaceId ?? 'all', after })],
    }
  })
  return done
}

const factOf = (workspaceId?: string) => `data_rotation:${workspaceId ?? 'all'}`

async function startOf(read: Pick<Tx, 'select'>, workspaceId?: string): Promise<number | null> {
  const [row] = await read
    .select()
    .from(instanceFacts)
    .where(eq(instanceFacts.name, factOf(workspaceId)))
  return row ? Number(row.value) : null
}

/** Records the start of a rotation, or finds one that is already running. */
async function startRotation(hub: Hub, by: KeyActor, workspaceId?: string): Promise<{ at: number; resumed: boolean }> {
  return await record<{ at: number; resumed: boolean }>(hub, async tx => {
    const before = await startOf(tx, workspaceId)
    if (before !== null) return { result: { at: before, resumed: true } }
    const [newest] = await tx.select({ at: max(dataKeys.createdAt) }).from(dataKeys)
    const now = Math.max(hub.clock.now(), Number(newest?.at ?? 0) + 1)
    await tx
      .insert(instanceFacts)
      .values({ name: factOf(workspaceId), value: String(now) })
      .onConflictDoNothing()
    return {
      result: { at: (await startOf(tx, workspaceId))!, resumed: false },
      audits: [await keyAuditDraft(tx, by, 'account.data_keys.begin_rotation', { id: workspaceId ?? 'all' })],
    }
  })
}

async function workspaceIds(hub: Hub, workspaceId?: string): Promise<string[]> {
  if (workspaceId !== undefined) return [workspaceId]
  // Include keys of deleted workspaces.
  const [rows, owners] = await Promise.all([
    hub.read.select({ id: workspaces.id }).from(workspaces),
    hub.read.selectDistinct({ id: dataKeys.workspaceId }).from(dataKeys).where(ne(dataKeys.workspaceId, '')),
  ])
  return [...new Set([...rows, ...owners].map(row => row.id))].sort()
}

const keysOf = (read: Pick<Tx, 'select'>, workspaceId: string): Promise<DataKeyRow[]> =>
  Promise.resolve(read.select().from(dataKeys).where(eq(dataKeys.workspaceId, workspaceId)).orderBy(desc(dataKeys.createdAt)))

/** Returns the workspace's key of this rotation, creating it if necessary; null for a workspace without keys. */
async function renewedKey(tx: Tx, hub: Hub, workspaceId: string, startedAt: number): Promise<DataKeyRow | null> {
  const [newest] = await forUpdate(
    tx.select().from(dataKeys).where(eq(dataKeys.workspaceId, workspaceId)).orderBy(desc(dataKeys.createdAt)).limit(1),
  )
  if (!newest || newest.createdAt >= startedAt) return newest ?? null
  return await hub.keys.addDataKey(tx, workspaceId, startedAt)
}

/** Re-encrypts all values of the workspace that don't use this key yet. */
async function resealValues(hub: Hub, key: DataKeyRow): Promise<number> {
  let count = 0
  for (const column of sealedColumns) {
    for await (const batch of valuesOf(hub.read, column, key.workspaceId)) {
      const old = batch.filter(one => keyIdOf(one.sealed) !== key.id)
      if (old.length > 0) count += await record(hub, async tx => ({ result: await sealBatch(tx, hub, column, old) }))
    }
  }
  return count
}

async function sealBatch(tx: Tx, hub: Hub, column: SealedColumn, values: SealedValue[]): Promise<number> {
  let count = 0
  for (const { id, workspaceId, sealed } of values) {
    const place = column.place(id, workspaceId)
    const fresh = await hub.keys.seal(tx, place, await decrypted(tx, hub, column, place, sealed))
    // Skip values changed in the meantime: they already use the new key.
    const written = await tx
      .update(column.table)
      .set({ [column.property]: fresh })
      .where(and(eq(column.row, id), eq(column.column, sealed)))
      .returning({ id: column.row })
    count += written.length
  }
  return count
}

async function decrypted(tx: Tx, hub: Hub, column: SealedColumn, place: Place, sealed: string): Promise<string> {
  try {
    return await hub.keys.open(place, sealed, tx)
  } catch (error) {
    if (!(error instanceof DecryptionFailed)) throw error
    throw new DecryptionFailed(
      `${column.name} of ${place.row}: ${error.message} Replace or delete it, then run this command again. Its key is kept.`,
    )
  }
}

/** Deletes the unused keys of a workspace, after re-encrypting values that were encrypted with them in the meantime. */
async function retireKeys(hub: Hub, workspaceId: string): Promise<number> {
  let deleted = 0
  const [newest, ...older] = await keysOf(hub.read, workspaceId)
  if (older.length > 0) await resealValues(hub, newest!)
  for (const key of older) {
    deleted += await record(hub, async tx => {
      // Encrypting locks the row of the key until the commit. With this lock, nothing new can be encrypted with it.
      await forUpdate(tx.select().from(dataKeys).where(eq(dataKeys.id, key.id)).orderBy(asc(dataKeys.id)))
      if (await isUsed(tx, key)) return { result: 0 }
      const removed = await tx.delete(dataKeys).where(eq(dataKeys.id, key.id)).returning({ id: dataKeys.id })
      return { result: removed.length }
    })
  }
  return deleted
}
