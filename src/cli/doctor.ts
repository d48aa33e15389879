import type { Command } from 'commander'
import type { EndWith } from '.'
import { examine } from './doctor-checks'
import { withData, withListen, type SettingFlags } from './settings'

export function addDoctor(program: Command, endWith: EndWith): void {
  withListen(
    withData(program.command('doctor').description('Look for what would keep the hub from running, and say what to do.')),
  )
    .addHelpText(
      'after',
      `
Prints one line per check. Changes nothing. Exit code 1 when a check fails.

Examples:
  bailiwick doctor --data /var/lib/bailiwick`,
    )
    .action(async (flags: SettingFlags) => {
      const findings = await examine(flags)
      const width = Math.max(...findings.map(one => one.check.length))
      for (const { check, verdict, says } of findings) console.log(`${verdict.padEnd(4)}  ${check.padEnd(width)}  ${says}`)
      endWith(findings.some(one => one.verdict === 'fail') ? 1 : 0)
    })
}
