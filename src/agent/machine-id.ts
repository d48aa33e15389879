import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hmacSha256, randomBase62 } from '../core/crypto'
import type { AgentSettings } from './config-file'
import { writeFile } from './state/write-file'

/**
 * Identifies the installation of the operating system, without revealing its machine ID, which machine-id(5) asks to keep confidential.
 * Systems without one get one of the agent.
 */
export function machineIdHash({ root, stateFolder }: Pick<AgentSettings, 'root' | 'stateFolder'>): string {
  const own = join(stateFolder, 'machine-id')
  const id = textAt(join(root, 'etc/machine-id')) ?? textAt(join(root, 'var/lib/dbus/machine-id')) ?? textAt(own)
  if (id !== null) return Buffer.from(hmacSha256(id, 'bailiwick')).toString('hex')
  writeFile(own, randomBase62(32))
  return machineIdHash({ root, stateFolder })
}

function textAt(path: string): string | null {
  try {
    // It is empty or `uninitialized` in images before the first boot.
    return /^[0-9A-Za-z]{32}$/.exec(readFileSync(path, 'latin1').trim())?.[0] ?? null
  } catch {
    return null
  }
}
