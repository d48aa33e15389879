import { configFile, readConfigFile } from '../config-file'
import { requireRoot } from '../install/system'
import { checkUpdate as check } from '../root/check-update'
import { rootFolders } from '../root/folders'
import { systemd } from '../root/system'
import { readStatus } from '../state/status-file'
import type { Flags } from './arguments'

/** Starts the version of an update, and undoes the update unless it reports to the hub. */
export async function checkUpdate({ config = configFile }: Flags): Promise<number> {
  requireRoot('check-update')
  const settings = readConfigFile(config)
  await check({
    folders: rootFolders(settings),
    system: systemd,
    reportingVersion: () => {
      const status = readStatus(settings.runtimeFolder)
      return status && status.last_report_at !== null ? status.version : null
    },
    pause: Bun.sleep,
  })
  return 0
}
