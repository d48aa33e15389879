import { existsSync, rmSync } from 'node:fs'
import { runtimeAssignments } from '../small-runtime'
import { writeFile } from '../state/write-file'
import { agentUser, logFolder, programLink } from './places'
import { runProgram, tryProgram } from './system'

const name = 'bailiwick-agent'
const file = `/etc/init.d/${name}`

/** Whether OpenRC runs the services of this server, such as on Alpine Linux. */
export const hasOpenRc = (): boolean => existsSync('/run/openrc') && existsSync('/sbin/openrc-run')

/**
 * The service of OpenRC that runs the agent. There is no root half: OpenRC can’t start one when the agent hands over a command. An agent
 * that was revoked ends at once. It is started again ten times at most.
 */
export const openRcScript = `#!/sbin/openrc-run
description="Bailiwick server agent"
supervisor=supervise-daemon
command=${programLink}
command_args=run
command_user=${agentUser}:${agentUser}
error_log=${logFolder}/agent.log
respawn_delay=5
respawn_max=10
respawn_period=120
umask=0077
retry=TERM/20/KILL/5
export ${runtimeAssignments}

depend() {
  use net
  after firewall
}

start_pre() {
  checkpath --directory --owner ${agentUser}:${agentUser} --mode 0755 /run/${name}
}
`

/** Creates the service, or updates it, and starts it. @throws RequirementNotMet */
export function startWithOpenRc(): void {
  writeFile(file, openRcScript, { mode: 0o755 })
  runProgram('rc-update', '--quiet', 'add', name, 'default')
  runProgram('rc-service', '--quiet', name, 'restart')
}

/** Stops and deletes the service. */
export function removeFromOpenRc(): void {
  if (!existsSync(file)) return
  tryProgram('rc-service', '--quiet', name, 'stop')
  tryProgram('rc-update', '--quiet', 'del', name, 'default')
  rmSync(file)
}
