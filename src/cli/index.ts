import { Command, CommanderError } from 'commander'
import { version } from '../core/version'
import type { Threads } from '../hub/run'
import { addAgent } from './agent'
import { addAudit } from './audit'
import { addBench } from './bench-command'
import { addDemo } from './demo-command'
import { addDoctor } from './doctor'
import { failureText } from './failure'
import { addHealth } from './health'
import { addKeys } from './keys'
import { addListen } from './listen'
import { addMigrate } from './migrate'
import { addOpenapi } from './openapi'
import { addProbe } from './probe'
import { addServe } from './serve'
import { addToken } from './token'
import { addUser } from './user'

/** Every sub-command, in the order of the help. */
const commands = [
  addServe,
  addDemo,
  addToken,
  addUser,
  addMigrate,
  addDoctor,
  addAudit,
  addHealth,
  addKeys,
  addListen,
  addOpenapi,
  addBench,
  addAgent,
  addProbe,
]

/**
 * Runs one command line, without the program's own name.
 * @param threads the files of the threads that commands start
 * @returns the exit code: 0 done, 1 it could not be done (standard error says why), 2 the command line is wrong
 */
export async function runCommand(args: string[], threads: Threads): Promise<number> {
  const ended = { code: 0 }
  const program = makeProgram(code => {
    ended.code = code
  }, threads)
  try {
    await program.parseAsync(args, { from: 'user' })
    return ended.code
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      console.error(failureText(error))
      return 1
    }
    return ['commander.helpDisplayed', 'commander.version'].includes(error.code) ? 0 : 2
  }
}

/** Told by a command that has done its work but wants an exit code other than 0. */
export type EndWith = (code: number) => void

/** The whole command line, with the help of every command. */
export function makeProgram(endWith: EndWith, threads: Threads): Command {
  const program = new Command('bailiwick')
    .description('Self-hostable infrastructure management: one program, one REST API.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help for a command')
    .helpCommand('help [command]', 'print help for a command')
    .showSuggestionAfterError()
    .showHelpAfterError('(add --help for what is possible)')
    .exitOverride()
    .addHelpText(
      'after',
      `
Examples:
  bailiwick serve --data /var/lib/bailiwick
  bailiwick token create --name deploy --permission dns.write --data /var/lib/bailiwick
  bailiwick doctor --data /var/lib/bailiwick

Settings are environment variables named BAILIWICK_…; flags win over them. The hub's page /docs/settings lists them all.`,
    )
  for (const add of commands) add(program, endWith, threads)
  return program
}
