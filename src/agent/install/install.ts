import { chownSync, existsSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { enrolAt, pinIfMissing, settingsOf } from '../cli/enrol'
import type { Flags, Print } from '../cli/arguments'
import type { AgentSettings } from '../config-file'
import { rootFolders } from '../root/folders'
import { updateFile } from '../root/update-file'
import { readIdentity } from '../state/identity'
import { readStatus } from '../state/status-file'
import { writeFile } from '../state/write-file'
import { hasOpenRc, startWithOpenRc } from './openrc'
import { agentUser, logFolder, programLink, unitFolder } from './places'
import { RequirementNotMet } from './requirement'
import { hasSystemd } from '../systemd'
import { outputOf, requireRoot, runProgram, tryProgram } from './system'
import { removeAgent } from './uninstall'
import { enabledUnits, units } from './units'

/** The first report arrives within this time after the start (ms). */
const firstReportMs = 30_000

/**
 * Creates the user, files, and service of the agent, enrolls the server, and waits for the first report. Run again, it upgrades the service.
 * If the server can’t be enrolled, nothing is left behind.
 */
export async function install(flags: Flags, print: Print): Promise<number> {
  requireRoot('install')
  if (!existsSync(programLink))
    throw new RequirementNotMet(`${programLink} is missing. Use the installation command that the dashboard shows.`)
  let leavesNothing = !tryProgram('id', agentUser)
  try {
    const settings = settingsOf(flags)
    createUser()
    ownFolder(settings.stateFolder, 0o700)
    ownFolder(logFolder, 0o750)
    const known = readIdentity(settings.stateFolder, settings.hub)
    if (known) pinIfMissing(settings, flags, known)
    else await enrolAt(settings, flags, print)
    // Its key is used up. A service that starts late is better than another enrolment.
    leavesNothing = false
    const identity = readIdentity(settings.stateFolder, settings.hub)!
    if (hasSystemd()) await reporting(settings, () => startService(settings), 'See journalctl -u bailiwick-agent.')
    else if (hasOpenRc()) await reporting(settings, startWithOpenRc, `See ${logFolder}/agent.log.`)
    else {
      print.out(
        `Enrolled as ${identity.agent_id}. This system has neither systemd nor OpenRC: start "${programLink} run" as the user ${agentUser}.\n`,
      )
      return 0
    }
    print.out(`The hub receives reports of this server: ${settings.hub}/servers/${identity.server_id}\n`)
    return 0
  } catch (error) {
    if (leavesNothing) removeAgent()
    throw error
  }
}

/** Writes the units of this version, after an update. The agent itself is not restarted. */
export function refreshUnits(): number {
  requireRoot('units')
  writeUnits()
  return 0
}

function writeUnits(): void {
  for (const [name, text] of Object.entries(units)) writeFile(join(unitFolder, name), text, { mode: 0o644, durable: true })
  runProgram('systemctl', 'daemon-reload')
  runProgram('systemctl', 'enable', '--quiet', ...enabledUnits)
  const started = ['root.path', 'certificates.path', 'firewall-watch.timer'].map(name => `bailiwick-agent-${name}`)
  runProgram('systemctl', 'restart', ...started)
}

/** Starts the service, and waits for the first report. @param advice a sentence @throws RequirementNotMet */
async function reporting({ runtimeFolder }: AgentSettings, start: () => void, advice: string): Promise<void> {
  const before = readStatus(runtimeFolder)?.run_id
  start()
  for (let waited = 0; waited < firstReportMs; waited += 250) {
    const status = readStatus(runtimeFolder)
    if (status && status.run_id !== before && status.last_report_at !== null) return
    await Bun.sleep(250)
  }
  throw new RequirementNotMet(`The hub has not received a report yet. ${readStatus(runtimeFolder)?.error ?? advice}`)
}

function startService(settings: AgentSettings): void {
  // This version is used, whatever an update by the hub was about to do.
  tryProgram('systemctl', 'stop', '--quiet', 'bailiwick-agent-update.service')
  rmSync(updateFile(rootFolders(settings)), { force: true })
  writeUnits()
  runProgram('systemctl', 'restart', 'bailiwick-agent.service')
}

function createUser(): void {
  if (tryProgram('id', agentUser)) return
  const shell = existsSync('/usr/sbin/nologin') ? '/usr/sbin/nologin' : '/sbin/nologin'
  const home = '/var/lib/bailiwick-agent'
  if (tryProgram('useradd', '--system', '--user-group', '--no-create-home', '--home-dir', home, '--shell', shell, agentUser))
    return
  // BusyBox.
  tryProgram('addgroup', '-S', agentUser)
  runProgram('adduser', '-S', '-D', '-H', '-h', home, '-s', shell, '-G', agentUser, agentUser)
}

/** Creates a folder of the user of the agent. */
function ownFolder(folder: string, mode: number): void {
  mkdirSync(folder, { recursive: true, mode })
  const { uid, gid } = agentIds()
  if (statSync(realpathSync(folder)).uid !== uid) chownSync(folder, uid, gid)
}

function agentIds(): { uid: number; gid: number } {
  const [uid, gid] = ['-u', '-g'].map(option => Number(outputOf('id', option, agentUser)))
  return { uid: uid!, gid: gid! }
}
