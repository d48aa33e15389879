import { statSync } from 'node:fs'
import { masterKeyFile } from '../../core/config'
import type { Hub } from '../../core/hub'
import { loadMasterKey } from '../../core/master-key'

// How each hub's key file looked when it was last read.
const seen = new WeakMap<Hub, string>()

/**
 * Reads the key file again when it was changed. One that cannot be used, or lacks the key that the database wants, is told of in
 * the log once, and the hub goes on with the keys it has.
 */
export async function renewMasterKey(hub: Hub): Promise<void> {
  const file = masterKeyFile(hub.config)
  let looks = 'missing'
  try {
    const { mtimeMs, size, ino, mode } = statSync(file)
    looks = `${mtimeMs} ${size} ${ino} ${mode}`
    if (looks === seen.get(hub)) return
    const before = hub.keys.masterKeyId
    const { key, previous } = loadMasterKey(file, false)
    await hub.keys.adopt({ current: key, previous })
    seen.set(hub, looks)
    if (hub.keys.masterKeyId !== before)
      hub.log.info({ file, fingerprint: hub.keys.masterKeyId }, 'the key file was read again, and begins with another key')
  } catch (error) {
    if (looks === seen.get(hub)) return
    seen.set(hub, looks)
    hub.log.error(
      { file, reason: (error as Error).message },
      'the key file was changed and cannot be used; the keys read before stay',
    )
  }
}
