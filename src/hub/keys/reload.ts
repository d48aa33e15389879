import { statSync } from 'node:fs'
import { masterKeyFile } from '../../core/config'
import type { Hub } from '../../core/hub'
import { loadMasterKey } from '../../core/master-key'

// Attributes of the key file when it was last read.
const lastState = new WeakMap<Hub, string>()

/**
 * Reloads the key file if it changed. If the file is invalid or the key required by the database is missing, logs an error once
 * and keeps the current keys.
 */
export async function reloadMasterKey(hub: Hub): Promise<void> {
  const file = masterKeyFile(hub.config)
  let state = 'missing'
  try {
    const { mtimeMs, size, ino, mode } = statSync(file)
    state = `${mtimeMs} ${size} ${ino} ${mode}`
    if (state === lastState.get(hub)) return
    const before = hub.keys.masterKeyId
    const { key, previous } = loadMasterKey(file, false)
    await hub.keys.adopt({ current: key, previous })
    lastState.set(hub, state)
    if (hub.keys.masterKeyId !== before)
      hub.log.info({ file, fingerprint: hub.keys.masterKeyId }, 'reloaded the key file with a new master key')
  } catch (error) {
    if (state === lastState.get(hub)) return
    lastState.set(hub, state)
    hub.log.error({ file, reason: (error as Error).message }, 'the changed key file is invalid; keeping the previous keys')
  }
}
