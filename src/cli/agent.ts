import type { Command } from 'commander'
import type { EndWith } from './failure'

export function addAgent(program: Command, endWith: EndWith): void {
  program
    .command('agent')
    .description('Run the server agent (same as bailiwick-agent)')
    .helpOption(false)
    .allowUnknownOption()
    .argument('[args...]')
    .action(async (args: string[]) => {
      const { runAgent } = await import('../agent/run')
      const { code, out, err } = runAgent(args)
      process.stdout.write(out)
      process.stderr.write(err)
      endWith(code)
    })
}
