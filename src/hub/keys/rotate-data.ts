import { and, asc, desc, eq, max, ne } from 'drizzle-orm'
import { workspaces } from '../../access/tables'
import { numbered, isOrAre } from '../../core/numbered'
import { record } from '../../core/change'
import { instant } from '../../core/clock'
import { locking } from '../../core/db/dialect'
import { dataKeys, instanceFacts } from '../../core/db/tables'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { NotOpened, type DataKeyRow, type Place } from '../../core/secrets'
import { sealedColumns, type SealedColumn } from './sealed-columns'
import { isUsed, keyIdOf, valuesOf, type SealedValue } from './sealed-values'
import { keysEntry, type By } from './standing'

export interface RotateDataOptions {
  by: By
  /** Of one workspace; of all when absent. */
  workspaceId?: string
  /** How long reads under way may take: keys are kept that long after the last value has left them. */
  graceMs: number
  tell(line: string): void
}

/** What renewing data keys would do, or does. */
export interface DataRotation {
  /** When it was begun: keys older than this are left; null when none is under way. */
  startedAt: number | null
  workspaces: number
  /** Values that are to be sealed anew. */
  values: number
  /** Keys that are then deleted. */
  keys: number
}

/** What `rotateData` would do now. */
export async function dataRotation(hub: Hub, workspaceId?: string): Promise<DataRotation> {
  const startedAt = await begun(hub.read, workspaceId)
  const plan: DataRotation = { startedAt, workspaces: 0, values: 0, keys: 0 }
  for (const id of await workspaceIds(hub, workspaceId)) {
    const keys = await keysOf(hub.read, id)
    if (keys.length === 0) continue
    plan.workspaces++
    const kept = startedAt !== null && keys[0]!.createdAt >= startedAt ? keys[0]!.id : null
    plan.keys += keys.filter(key => key.id !== kept).length
    for (const column of sealedColumns) {
      for await (const batch of valuesOf(hub.read, column, id))
        plan.values += batch.filter(one => keyIdOf(one.sealed) !== kept).length
    }
  }
  return plan
}

/**
 * Gives each workspace a new data key, seals every value anew under it and deletes the keys before it, while hubs run. It may be
 * killed at any moment: run again for the same workspaces, it goes on where it was. A value that somebody changes meanwhile stays
 * as they made it.
 * @throws NotOpened when a value does not open; its key is then kept
 */
export async function rotateData(hub: Hub, options: RotateDataOptions): Promise<DataRotation> {
  const { by, workspaceId, tell } = options
  const startedAt = await begin(hub, by, workspaceId)
  if (startedAt.resumed) tell(`Going on with the rotation that began at ${instant(startedAt.at)}.`)
  const done: DataRotation = { startedAt: startedAt.at, workspaces: 0, values: 0, keys: 0 }
  const ids = await workspaceIds(hub, workspaceId)
  for (const id of ids) {
    const key = await record(hub, async tx => ({ result: await renewedKey(tx, hub, id, startedAt.at) }))
    if (!key) continue
    const values = await sealAnew(hub, key)
    done.workspaces++
    done.values += values
    tell(`${id}: ${numbered(values, 'values')} ${isOrAre(values)} sealed under the new key ${key.id}.`)
  }
  // A hub may have read a value just before it was sealed anew, and ask for its key just after.
  if (done.workspaces > 0) await Bun.sleep(options.graceMs)
  for (const id of ids) done.keys += await retireKeys(hub, id)
  await record(hub, async tx => {
    await tx.delete(instanceFacts).where(eq(instanceFacts.name, factOf(workspaceId)))
    const after = { workspaces: done.workspaces, values: done.values, keys_deleted: done.keys }
    return {
      result: undefined,
      audits: [await keysEntry(tx, by, 'account.data_keys.rotate', { id: workspaceId ?? 'all', after })],
    }
  })
  return done
}

const factOf = (workspaceId?: string) => `data_rotation:${workspaceId ?? 'all'}`

async function begun(read: Pick<Tx, 'select'>, workspaceId?: string): Promise<number | null> {
  const [row] = await read
    .select()
    .from(instanceFacts)
    .where(eq(instanceFacts.name, factOf(workspaceId)))
  return row ? Number(row.value) : null
}

/** Remembers that a rotation is under way, or finds that one is. */
async function begin(hub: Hub, by: By, workspaceId?: string): Promise<{ at: number; resumed: boolean }> {
  return await record<{ at: number; resumed: boolean }>(hub, async tx => {
    const before = await begun(tx, workspaceId)
    if (before !== null) return { result: { at: before, resumed: true } }
    const [newest] = await tx.select({ at: max(dataKeys.createdAt) }).from(dataKeys)
    const now = Math.max(hub.clock.now(), Number(newest?.at ?? 0) + 1)
    await tx
      .insert(instanceFacts)
      .values({ name: factOf(workspaceId), value: String(now) })
      .onConflictDoNothing()
    return {
      result: { at: (await begun(tx, workspaceId))!, resumed: false },
      audits: [await keysEntry(tx, by, 'account.data_keys.begin_rotation', { id: workspaceId ?? 'all' })],
    }
  })
}

async function workspaceIds(hub: Hub, workspaceId?: string): Promise<string[]> {
  if (workspaceId !== undefined) return [workspaceId]
  // Keys of a workspace that was deleted go as well.
  const [rows, owners] = await Promise.all([
    hub.read.select({ id: workspaces.id }).from(workspaces),
    hub.read.selectDistinct({ id: dataKeys.workspaceId }).from(dataKeys).where(ne(dataKeys.workspaceId, '')),
  ])
  return [...new Set([...rows, ...owners].map(row => row.id))].sort()
}

const keysOf = (read: Pick<Tx, 'select'>, workspaceId: string): Promise<DataKeyRow[]> =>
  Promise.resolve(read.select().from(dataKeys).where(eq(dataKeys.workspaceId, workspaceId)).orderBy(desc(dataKeys.createdAt)))

/** The workspace's key of this rotation, made if it is not there; null for a workspace that has sealed nothing yet. */
async function renewedKey(tx: Tx, hub: Hub, workspaceId: string, startedAt: number): Promise<DataKeyRow | null> {
  const [newest] = await locking(
    tx.select().from(dataKeys).where(eq(dataKeys.workspaceId, workspaceId)).orderBy(desc(dataKeys.createdAt)).limit(1),
  )
  if (!newest || newest.createdAt >= startedAt) return newest ?? null
  return await hub.keys.addDataKey(tx, workspaceId, startedAt)
}

/** Seals all values of the key's workspace under it that are not yet. */
async function sealAnew(hub: Hub, key: DataKeyRow): Promise<number> {
  let count = 0
  for (const column of sealedColumns) {
    for await (const batch of valuesOf(hub.read, column, key.workspaceId)) {
      const old = batch.filter(one => keyIdOf(one.sealed) !== key.id)
      if (old.length > 0) count += await record(hub, async tx => ({ result: await sealBatch(tx, hub, column, old) }))
    }
  }
  return count
}

async function sealBatch(tx: Tx, hub: Hub, of: SealedColumn, values: SealedValue[]): Promise<number> {
  let count = 0
  for (const { id, workspaceId, sealed } of values) {
    const place = of.place(id, workspaceId)
    const fresh = await hub.keys.seal(tx, place, await opened(tx, hub, of, place, sealed))
    // Only where it still is what was read: a value that was changed meanwhile is under the new key by itself.
    const written = await tx
      .update(of.table)
      .set({ [of.property]: fresh })
      .where(and(eq(of.row, id), eq(of.column, sealed)))
      .returning({ id: of.row })
    count += written.length
  }
  return count
}

async function opened(tx: Tx, hub: Hub, of: SealedColumn, place: Place, sealed: string): Promise<string> {
  try {
    return await hub.keys.open(place, sealed, tx)
  } catch (error) {
    if (!(error instanceof NotOpened)) throw error
    throw new NotOpened(`${of.name} of ${place.row}: ${error.message} Renew or delete it, then run this again; its key is kept.`)
  }
}

/** Deletes the keys of a workspace that seal nothing any more; what was sealed under them since is sealed anew first. */
async function retireKeys(hub: Hub, workspaceId: string): Promise<number> {
  let deleted = 0
  const [newest, ...older] = await keysOf(hub.read, workspaceId)
  if (older.length > 0) await sealAnew(hub, newest!)
  for (const key of older) {
    deleted += await record(hub, async tx => {
      // Whoever seals keeps the row of the key until that is committed: held here, nothing more can come under it.
      await locking(tx.select().from(dataKeys).where(eq(dataKeys.id, key.id)).orderBy(asc(dataKeys.id)))
      if (await isUsed(tx, key)) return { result: 0 }
      const gone = await tx.delete(dataKeys).where(eq(dataKeys.id, key.id)).returning({ id: dataKeys.id })
      return { result: gone.length }
    })
  }
  return deleted
}
