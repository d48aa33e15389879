import { and, asc, eq, ne } from 'drizzle-orm'
import { randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { numbered, wasOrWere } from '../../core/numbered'
import { record } from '../../core/change'
import { masterKeyFile } from '../../core/config'
import { locking } from '../../core/db/dialect'
import { lockFile } from '../../core/db/file-lock'
import { dataKeys, instanceFacts } from '../../core/db/tables'
import type { Hub } from '../../core/hub'
import { loadMasterKey, replaceMasterKeys, type MasterKeys } from '../../core/master-key'
import { canaryFact, keyFingerprint, RotationHalted, wrappingKeyId } from '../../core/secrets'
import { batchSize } from './sealed-values'
import { keysEntry, runningHubs, wrappedByOthers, type By, type HubRow } from './standing'

/** Where a rotation of the master key stands. */
export interface MasterRotation {
  file: string
  keys: MasterKeys
  /** What is still to do, in this order. */
  steps: ('new key' | 'adopt' | 'rewrap' | 'drop previous')[]
  /** Data keys that another key than the new one wraps. */
  toRewrap: number
  hubs: HubRow[]
}

export interface RotateMasterOptions {
  by: By
  /** The new key; a random one when absent. */
  newKey?: Uint8Array
  /** How long hubs may take to read the new key file. */
  waitMs: number
  tell(line: string): void
}

/**
 * How far a rotation is that was begun, or what a new one would do.
 * @throws RotationHalted when data keys are wrapped by a master key that is not in the file
 */
export async function masterRotation(hub: Hub, newKey?: Uint8Array): Promise<MasterRotation> {
  const file = masterKeyFile(hub.config)
  const { key: current, previous } = loadMasterKey(file, false)
  await hub.keys.adopt({ current, previous })
  const currentId = keyFingerprint(current)
  const wrapped = await hub.read.selectDistinct({ id: dataKeys.masterKeyId }).from(dataKeys)
  const missing = wrapped.filter(one => !hub.keys.knows(one.id))
  if (missing.length > 0)
    throw new RotationHalted(
      `Data keys are wrapped by the master key ${missing.map(one => one.id).join(' and ')}, which is not in ${file}: add it as the second line.`,
    )
  const hubs = await runningHubs(hub, hub.read)
  const again = newKey === undefined || keyFingerprint(newKey) === currentId
  if (!previous) {
    if (newKey && again) throw new RotationHalted(`The new key is the one that ${file} holds already.`)
    const toRewrap = await hub.read.$count(dataKeys)
    return { file, keys: { current, previous }, steps: ['new key', 'adopt', 'rewrap', 'drop previous'], toRewrap, hubs }
  }
  if (!again)
    throw new RotationHalted(`A rotation to ${currentId} is under way: run this without --new-key-file first, which ends it.`)
  const toRewrap = await wrappedByOthers(hub.read, currentId)
  const adopted = (await wrappingKeyId(hub.read)) === currentId
  const steps: MasterRotation['steps'] = adopted ? [] : ['adopt']
  if (!adopted || toRewrap > 0) steps.push('rewrap')
  return { file, keys: { current, previous }, steps: [...steps, 'drop previous'], toRewrap, hubs }
}

/**
 * Puts a new master key in the place of the old, while hubs run. It may be killed at any moment: run again, it goes on where it was.
 * @returns fingerprint of the key that is now the only one
 * @throws RotationHalted when the key file cannot be written, another rotation is under way on this machine, or a running hub does
 *   not read the new key in time
 */
export async function rotateMaster(hub: Hub, options: RotateMasterOptions): Promise<string> {
  const unlock = lockKeyFile(masterKeyFile(hub.config))
  try {
    return await rotate(hub, options)
  } finally {
    unlock()
  }
}

async function rotate(hub: Hub, options: RotateMasterOptions): Promise<string> {
  const { by, waitMs, tell } = options
  const { file, keys, steps } = await masterRotation(hub, options.newKey)
  if (steps[0] === 'new key') {
    const next = { current: options.newKey ?? new Uint8Array(randomBytes(32)), previous: keys.current }
    // Before it is written: what the database wants must be among them.
    await hub.keys.adopt(next)
    writeKeys(file, next, `Write the new key before the line in ${file} by other means, and run this again.`)
    tell(`${file} now begins with the key ${hub.keys.masterKeyId}; the one before it is its second line.`)
  }
  const id = hub.keys.masterKeyId
  if (steps.includes('adopt')) await adoptEverywhere(hub, by, id, waitMs, tell)
  if (steps.includes('rewrap')) {
    const wrapped = await rewrapAll(hub, id)
    tell(`${numbered(wrapped, 'data keys')} ${wasOrWere(wrapped)} wrapped by ${id}.`)
  }
  const left = await wrappedByOthers(hub.read, id)
  if (left > 0) throw new RotationHalted(`${left} data keys are still wrapped by another key than ${id}: run this again.`)
  await record(hub, async tx => ({
    result: undefined,
    audits: [await keysEntry(tx, by, 'account.master_key.retire', { id })],
  }))
  const { key, previous } = loadMasterKey(file, false)
  // What stands there now may be more than this rotation knew.
  if (previous && keyFingerprint(key) === id) {
    writeKeys(
      file,
      { current: key, previous: null },
      `All is wrapped by ${id}: delete the second line of ${file} by other means.`,
    )
    tell(`${file} now holds the key ${id} alone.`)
  }
  return id
}

/** From here on new data keys are wrapped by the new master key. It waits until every hub that runs has it. */
async function adoptEverywhere(hub: Hub, by: By, id: string, waitMs: number, tell: (line: string) => void): Promise<void> {
  const end = performance.now() + waitMs
  let told = ''
  for (;;) {
    const behind = await adopt(hub, by, id)
    if (behind.length === 0) return
    const names = behind.map(one => `${one.host} (${one.id}) has ${one.masterKeyId}`).join(', ')
    if (performance.now() > end)
      throw new RotationHalted(
        `These hubs have not read the key ${id}: ${names}. Put both lines of the key file into theirs, then run this again.`,
      )
    if (names !== told) tell(`Waiting for hubs to read the key ${id}: ${names}. Each reads its key file again every second.`)
    told = names
    await Bun.sleep(200)
  }
}

/** Makes the new key the one that the database wants, unless a running hub lacks it; returns those that do. */
async function adopt(hub: Hub, by: By, id: string): Promise<HubRow[]> {
  return await record(hub, async tx => {
    // A hub that starts looks at this row before it enters itself: either it is among the running ones here, or it sees the new key.
    const [canary] = await locking(tx.select().from(instanceFacts).where(eq(instanceFacts.name, canaryFact)))
    const before = canary!.value.split('.')[0]
    const behind = (await runningHubs(hub, tx)).filter(one => one.masterKeyId !== id)
    if (behind.length > 0 || before === id) return { result: behind }
    await tx
      .update(instanceFacts)
      .set({ value: hub.keys.canaryOf(id) })
      .where(eq(instanceFacts.name, canaryFact))
    const entry = { id, before: { fingerprint: before }, after: { fingerprint: id } }
    return { result: [], audits: [await keysEntry(tx, by, 'account.master_key.rotate', entry)] }
  })
}

async function rewrapAll(hub: Hub, id: string): Promise<number> {
  for (let done = 0; ;) {
    const rewrapped = await record(hub, async tx => {
      const rows = await locking(
        tx.select().from(dataKeys).where(ne(dataKeys.masterKeyId, id)).orderBy(asc(dataKeys.id)).limit(batchSize),
      )
      for (const row of rows) {
        await tx
          .update(dataKeys)
          .set(hub.keys.rewrap(row))
          .where(and(eq(dataKeys.id, row.id), eq(dataKeys.wrapped, row.wrapped)))
      }
      return { result: rows.length }
    })
    if (rewrapped === 0) return done
    done += rewrapped
  }
}

/** Two that replace the file at once could each write over the key of the other. */
function lockKeyFile(file: string): () => void {
  let unlock: (() => void) | null
  try {
    unlock = lockFile(`${realpathSync(file)}.lock`)
  } catch {
    // In a folder that cannot be written the key file is not replaced either.
    return () => {}
  }
  if (!unlock) throw new RotationHalted('Another rotation of the master key is under way on this machine.')
  return unlock
}

function writeKeys(file: string, keys: MasterKeys, otherwise: string): void {
  try {
    replaceMasterKeys(file, keys)
  } catch (error) {
    throw new RotationHalted(`The key file cannot be replaced (${(error as Error).message}). ${otherwise}`)
  }
}
