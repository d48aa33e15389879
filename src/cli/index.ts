import { Command, CommanderError } from 'commander'
import { version } from '../core/version'
import type { Threads } from '../hub/run'
import { addAgent } from './agent'
import { addAudit } from './audit'
import { addBackup, addRestore } from './backup'
import { addBench } from './bench-command'
import { addDemo } from './demo-command'
import { addDoctor } from './doctor'
import { failureText, type EndWith } from './failure'
import { addHealth } from './health'
import { addKeys } from './keys'
import { addListen } from './listen'
import { addMigrate } from './migrate'
import { addOpenapi } from './openapi'
import { addProbe } from './probe'
import { addServe } from './serve'
import { addToken } from './token'
import { addUser } from './user'

/** All commands, in the order of the help. */
const commands = [
  addServe,
  addDemo,
  addToken,
  addUser,
  addMigrate,
  addBackup,
  addRestore,
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
 * Runs a command.
 * @param args arguments without the name of the program
 * @param threads files of the worker threads that commands start
 * @returns the exit code: 0 success, 1 failure, 2 invalid usage
 */
export async function runCommand(args: string[], threads: Threads): Promise<number> {
  const result = { code: 0 }
  const program = createProgram(code => {
    result.code = code
  }, threads)
  try {
    await program.parseAsync(args, { from: 'user' })
    return result.code
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      console.error(failureText(error))
      return 1
    }
    return ['commander.helpDisplayed', 'commander.version'].includes(error.code) ? 0 : 2
  }
}

/** The command line program with all commands. */
export function createProgram(endWith: EndWith, threads: Threads): Command {
  const program = new Command('bailiwick')
    .description('Self-hosted infrastructure management with a REST API and a dashboard')
    .version(version, '-V, --version', 'Show the version')
    .helpOption('-h, --help', 'Show this help')
    .helpCommand('help [command]', 'Show help for a command')
    .showSuggestionAfterError()
    .showHelpAfterError('Run with --help for usage.')
    .exitOverride()
    .addHelpText(
      'after',
      `
Examples:
  bailiwick serve --data /var/lib/bailiwick
  bailiwick token create --name deploy --permission dns.write --data /var/lib/bailiwick
  bailiwick doctor --data /var/lib/bailiwick

Settings are BAILIWICK_ environment variables. Flags override them. See /docs/settings on a running hub for the full list.`,
    )
  for (const add of commands) add(program, endWith, threads)
  return program
}
