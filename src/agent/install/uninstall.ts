import { rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Flags, Print } from '../cli/arguments'
import { configFile } from '../config-file'
import { removeFromOpenRc } from './openrc'
import { agentUser, logFolder, programFolder, programLink, unitFolder } from './places'
import { hasSystemd } from '../systemd'
import { requireRoot, tryProgram } from './system'
import { units } from './units'

/** Stops the agent, and deletes everything but its log. The hub then shows the agent as stopped, until it is deleted there. */
export function uninstall(_: Flags, { out }: Print): number {
  requireRoot('uninstall')
  removeAgent()
  out(`The agent was removed. Its log is still in ${logFolder}.\n`)
  return 0
}

/** Deletes what the installation created. */
export function removeAgent(): void {
  if (hasSystemd()) tryProgram('systemctl', 'disable', '--now', '--quiet', ...Object.keys(units))
  for (const name of Object.keys(units)) remove(join(unitFolder, name))
  if (hasSystemd()) tryProgram('systemctl', 'daemon-reload')
  removeFromOpenRc()
  const folders = ['/var/lib/bailiwick-agent', '/run/bailiwick-agent'].flatMap(one => [one, `${one}-root`])
  for (const path of [dirname(configFile), ...folders, programLink, programFolder]) remove(path)
  // Nothing could change the firewall of the hub anymore.
  tryProgram('nft', 'delete', 'table', 'inet', 'bailiwick')
  for (const folder of [logFolder, `${logFolder}-root`]) removeEmpty(folder)
  if (!tryProgram('userdel', agentUser)) tryProgram('deluser', agentUser)
}

/** Deletes a folder if nothing was ever written to it. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {}
}

const remove = (path: string) => rmSync(path, { recursive: true, force: true })
