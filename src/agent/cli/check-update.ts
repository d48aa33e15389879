import { configFile, readConfigFile } from '../config-file'
import { requireRoot } from '../install/system'
import { checkUpdate as check } from '../root/check-update'
import { rootFolders } from '../root/folders'
import { systemd } from '../root/system'
import { readStatus } from '../state/status-file'
import type { Flags, Print } from './arguments'

/** Starts the version of an update, and undoes the update unless it reports to the hub. */
export async function checkUpdate({ config = configFile }: Flags, print: Print): Promise<number> {
  requireRoot('check-update')
  const settings = readConfigFile(config)
  const problem = await check({
    folders: rootFolders(settings),
    system: systemd,
    running: () => {
      const status = readStatus(settings.runtimeFolder)
      return status && { version: status.version, hasReported: status.last_report_at !== null }
    },
    pause: Bun.sleep,
  })
  // systemd would start it again and again if this were an error.
  if (problem !== null) print.err(`${problem}\n`)
  return 0
}
