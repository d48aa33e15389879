import type { Command } from 'commander'
import type { EndWith } from './failure'
import { runDoctorChecks } from './doctor-checks'
import { withData, withListen, type SettingFlags } from './settings'

export function addDoctor(program: Command, endWith: EndWith): void {
  withListen(withData(program.command('doctor').description('Diagnose problems with the configuration and the installation')))
    .addHelpText(
      'after',
      `
Prints one line per check and changes nothing. The exit code is 1 if a check fails.

Examples:
  bailiwick doctor --data /var/lib/bailiwick`,
    )
    .action(async (flags: SettingFlags) => {
      const findings = await runDoctorChecks(flags)
      const width = Math.max(...findings.map(one => one.check.length))
      for (const { check, status, message } of findings) console.log(`${status.padEnd(4)}  ${check.padEnd(width)}  ${message}`)
      endWith(findings.some(one => one.status === 'fail') ? 1 : 0)
    })
}
