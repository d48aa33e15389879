import { and, asc, eq, ne } from 'drizzle-orm'
import { randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { isOrAre, pluralize } from '../../core/pluralize'
import { record } from '../../core/change'
import { masterKeyFile } from '../../core/config'
import { forUpdate } from '../../core/db/dialect'
import { lockFile } from '../../core/db/file-lock'
import { dataKeys, instanceFacts } from '../../core/db/tables'
import type { Hub } from '../../core/hub'
import { loadMasterKey, replaceMasterKeys, type MasterKeys } from '../../core/master-key'
import { canaryFact, keyFingerprint, RotationHalted, wrappingKeyId } from '../../core/secrets'
import { batchSize } from './sealed-values'
import { keyAuditDraft, runningHubs, wrappedByOthers, type KeyActor, type HubRow } from './key-status'

/** State of a master key rotation. */
interface MasterRotation {
  file: string
  keys: MasterKeys
  /** Remaining steps, in order. */
  steps: ('new key' | 'adopt' | 'rewrap' | 'drop previous')[]
  /** Number of data keys not wrapped with the new key. */
  toRewrap: number
  hubs: HubRow[]
}

interface RotateMasterOptions {
  by: KeyActor
  /** The new key; defaults to a random one. */
  newKey?: Uint8Array
  /** How long to wait for hubs to reload the key file. */
  waitMs: number
  report(line: string): void
}

/**
 * Returns the state of the running rotation, or what a new one would do.
 * @throws RotationHalted if data keys are wrapped with a master key that is not in the file
 */
export async function masterRotation(hub: Hub, newKey?: Uint8Array): Promise<MasterRotation> {
  const file = masterKeyFile(hub.config)
  const { key: current, previous } = loadMasterKey(file, false)
  await hub.keys.adopt({ current, previous })
  const currentId = keyFingerprint(current)
  const wrapped = await hub.read.selectDistinct({ id: dataKeys.masterKeyId }).from(dataKeys)
  const missing = wrapped.filter(one => !hub.keys.has(one.id))
  if (missing.length > 0)
    throw new RotationHalted(
      `Some data keys are encrypted with the master key ${missing.map(one => one.id).join(' and ')}, which is not in ${file}. Add it as the second line.`,
    )
  const hubs = await runningHubs(hub, hub.read)
  const isCurrent = newKey === undefined || keyFingerprint(newKey) === currentId
  if (!previous) {
    if (newKey && isCurrent) throw new RotationHalted(`The new key is already the current key in ${file}.`)
    const toRewrap = await hub.read.$count(dataKeys)
    return { file, keys: { current, previous }, steps: ['new key', 'adopt', 'rewrap', 'drop previous'], toRewrap, hubs }
  }
  if (!isCurrent)
    throw new RotationHalted(
      `A rotation to ${currentId} is in progress. Run this command without --new-key-file first to complete it.`,
    )
  const toRewrap = await wrappedByOthers(hub.read, currentId)
  const adopted = (await wrappingKeyId(hub.read)) === currentId
  const steps: MasterRotation['steps'] = adopted ? [] : ['adopt']
  if (!adopted || toRewrap > 0) steps.push('rewrap')
  return { file, keys: { current, previous }, steps: [...steps, 'drop previous'], toRewrap, hubs }
}

/**
 * Replaces the master key while hubs are running. Can be interrupted at any time and continues if run again.
 * @returns fingerprint of the new key
 * @throws RotationHalted if the key file is not writable, another rotation is running on this machine, or a running hub doesn't
 * load the new key in time
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
  const { by, waitMs, report } = options
  const { file, keys, steps } = await masterRotation(hub, options.newKey)
  if (steps[0] === 'new key') {
    const next = { current: options.newKey ?? new Uint8Array(randomBytes(32)), previous: keys.current }
    // Check that the key required by the database is included before writing the file.
    await hub.keys.adopt(next)
    writeKeys(file, next, `Add the new key as the first line of ${file} yourself, then run this command again.`)
    report(`${file} now has the new key ${hub.keys.masterKeyId} on its first line and the previous key on its second.`)
  }
  const id = hub.keys.masterKeyId
  if (steps.includes('adopt')) await adoptEverywhere(hub, by, id, waitMs, report)
  if (steps.includes('rewrap')) {
    const wrapped = await rewrapAll(hub, id)
    report(`Re-encrypted ${pluralize(wrapped, 'data keys')} with ${id}.`)
  }
  const left = await wrappedByOthers(hub.read, id)
  if (left > 0)
    throw new RotationHalted(
      `${pluralize(left, 'data keys')} ${isOrAre(left)} not encrypted with ${id} yet. Run this command again.`,
    )
  await record(hub, async tx => ({
    result: undefined,
    audits: [await keyAuditDraft(tx, by, 'account.master_key.retire', { id })],
  }))
  const { key, previous } = loadMasterKey(file, false)
  // The file may have been changed during the rotation.
  if (previous && keyFingerprint(key) === id) {
    writeKeys(
      file,
      { current: key, previous: null },
      `All data keys are encrypted with ${id}. Remove the second line of ${file} yourself.`,
    )
    report(`${file} now contains only the key ${id}.`)
  }
  return id
}

/** Waits until all running hubs have the new master key, then starts wrapping new data keys with it. */
async function adoptEverywhere(
  hub: Hub,
  by: KeyActor,
  id: string,
  waitMs: number,
  report: (line: string) => void,
): Promise<void> {
  const end = performance.now() + waitMs
  let reported = ''
  for (;;) {
    const pending = await adopt(hub, by, id)
    if (pending.length === 0) return
    const names = pending.map(one => `${one.host} (${one.id}) has ${one.masterKeyId}`).join(', ')
    if (performance.now() > end)
      throw new RotationHalted(
        `These hubs have not loaded the key ${id}: ${names}. Copy both lines to their key files, then run this command again.`,
      )
    if (names !== reported) report(`Waiting for hubs to load the key ${id}: ${names}. Hubs reload their key file every second.`)
    reported = names
    await Bun.sleep(200)
  }
}

/** Sets the master key required by the database, unless a running hub doesn't have it; returns those hubs. */
async function adopt(hub: Hub, by: KeyActor, id: string): Promise<HubRow[]> {
  return await record(hub, async tx => {
    // A starting hub reads this row before it registers: so it is either among the running hubs here, or sees the new key.
    const [canary] = await forUpdate(tx.select().from(instanceFacts).where(eq(instanceFacts.name, canaryFact)))
    const before = canary!.value.split('.')[0]
    const pending = (await runningHubs(hub, tx)).filter(one => one.masterKeyId !== id)
    if (pending.length > 0 || before === id) return { result: pending }
    await tx
      .update(instanceFacts)
      .set({ value: hub.keys.canaryOf(id) })
      .where(eq(instanceFacts.name, canaryFact))
    const entry = { id, before: { fingerprint: before }, after: { fingerprint: id } }
    return { result: [], audits: [await keyAuditDraft(tx, by, 'account.master_key.rotate', entry)] }
  })
}

async function rewrapAll(hub: Hub, id: string): Promise<number> {
  for (let done = 0; ;) {
    const rewrapped = await record(hub, async tx => {
      const rows = await forUpdate(
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

/** Prevents two rotations from overwriting each other's key. */
function lockKeyFile(file: string): () => void {
  let unlock: (() => void) | null
  try {
    unlock = lockFile(`${realpathSync(file)}.lock`)
  } catch {
    // In a read-only folder the key file can't be replaced anyway.
    return () => {}
  }
  if (!unlock) throw new RotationHalted('Another master key rotation is running on this machine.')
  return unlock
}

function writeKeys(file: string, keys: MasterKeys, instructions: string): void {
  try {
    replaceMasterKeys(file, keys)
  } catch (error) {
    throw new RotationHalted(`The key file could not be replaced (${(error as Error).message}). ${instructions}`)
  }
}
