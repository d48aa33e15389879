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
      const { startAgent } = await import('../agent/run')
      endWith(await startAgent(args))
    })
}
