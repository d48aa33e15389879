import type { AgentCommand, CommandResult } from '../../wire/agent-command'
import type { AgentSettings } from '../config-file'
import { applyFirewall, confirmFirewall } from './firewall'
import type { RootFolders } from './folders'
import type { System } from './system'

/** The result must reach the hub before the server goes down. */
const downDelaySeconds = 3
/** How long a unit may take to restart. */
const restartMs = 300_000

type Result = Omit<CommandResult, 'command_id'>
const done = (output: string | null = null): Result => ({ outcome: 'done', detail: null, output })
const failed = (detail: string): Result => ({ outcome: 'failed', detail, output: null })

/** Runs a command that was checked, as root. */
export async function runOrder(
  system: System,
  folders: RootFolders,
  profiles: () => AgentSettings['installProfiles'],
  command: AgentCommand,
): Promise<Result> {
  switch (command.name) {
    case 'reboot':
    case 'shutdown': {
      const verb = command.name === 'reboot' ? 'reboot' : 'poweroff'
      const started = await system.startTimer(`bailiwick-agent-${verb}`, downDelaySeconds, ['systemctl', verb])
      return started.isSuccess ? done() : failed(started.output)
    }
    case 'restart_unit': {
      const { unit } = command.params
      const restarted = await system.run(['systemctl', 'restart', '--', unit], { timeoutMs: restartMs })
      if (!restarted.isSuccess) return failed(restarted.output || `${unit} could not be restarted.`)
      const { output } = await system.run(['systemctl', 'is-active', '--', unit])
      return done(output)
    }
    case 'firewall_apply':
    case 'firewall_confirm': {
      const changed =
        command.name === 'firewall_apply'
          ? await applyFirewall(system, folders, command.params)
          : await confirmFirewall(system, folders, command.params)
      return changed.isDone ? done() : failed(changed.detail)
    }
    case 'update': {
      const { prepareUpdate } = await import('./prepare-update')
      const refused = await prepareUpdate(system, folders, command)
      return refused === null ? done() : failed(refused)
    }
    case 'certificate_csr':
    case 'certificate_install': {
      const { createKey, installCertificate } = await import('./certificates')
      if (command.name === 'certificate_csr') return done(await createKey(folders, command.params))
      const profile = profiles().get(command.params.install_profile)
      if (!profile) return failed('The install profile was removed.')
      const installed = await installCertificate(system, folders, profile, command.params)
      if (installed.isDone) return done(installed.note)
      // The hub sends it again.
      return { ...failed(installed.detail), outcome: installed.isBusy ? 'expired' : 'failed' }
    }
    default:
      return { outcome: 'refused', detail: `The command ${command.name} is not run as root.`, output: null }
  }
}
