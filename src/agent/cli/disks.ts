import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { systemClock } from '../../core/clock'
import { configFile, readConfigFile } from '../config-file'
import { requireRoot } from '../install/system'
import { rootFolders } from '../root/folders'
import { refreshSmartFile } from '../sample/smart-file'
import type { Flags, Print } from './arguments'

/** Reads the SMART data of the disks, as root, and stores it for the agent. */
export async function disks({ config = configFile }: Flags, { err }: Print): Promise<number> {
  requireRoot('disks')
  const file = rootFolders(readConfigFile(config)).disks
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 })
  await refreshSmartFile(file, systemClock.now(), text => err(`${text}\n`))
  return 0
}
