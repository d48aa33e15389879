import { CommandLog } from '../commands/command-log'
import { configFile, readConfigFile } from '../config-file'
import { requireRoot } from '../install/system'
import { rootFolders, rootLogFile, rootRefusedFile } from '../root/folders'
import { obeyOrders } from '../root/obey-orders'
import { pinnedBeside } from '../root/pinned'
import { systemd } from '../root/system'
import { systemClock } from '../../core/clock'
import type { Flags, Print } from './arguments'

/** Runs the commands that the agent has handed over, as root, and exits. */
export async function root({ config = configFile }: Flags, { err }: Print): Promise<number> {
  requireRoot('root')
  // The agent must be able to read results and the state of the firewall.
  process.umask(0o022)
  const settings = readConfigFile(config)
  const logAt = (path: string) => new CommandLog(path, systemClock.now, text => err(`${text}\n`))
  await obeyOrders({
    folders: rootFolders(settings),
    system: systemd,
    settings: () => readConfigFile(config),
    pinnedFile: pinnedBeside(config),
    now: systemClock.now,
    timers: systemClock,
    log: logAt(rootLogFile),
    refused: logAt(rootRefusedFile),
  })
  return 0
}
