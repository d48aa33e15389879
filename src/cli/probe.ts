import type { Command } from 'commander'
import type { EndWith } from './failure'

export function addProbe(program: Command, endWith: EndWith): void {
  program
    .command('probe')
    .description('Run a remote probe (same as bailiwick-probe)')
    .helpOption(false)
    .allowUnknownOption()
    .argument('[args...]')
    .action(async (args: string[]) => {
      const { runProbe } = await import('../probe/run')
      const { code, out, err } = runProbe(args)
      process.stdout.write(out)
      process.stderr.write(err)
      endWith(code)
    })
}
