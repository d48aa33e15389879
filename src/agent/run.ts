import { writeSync } from 'node:fs'
import { version } from '../core/version'
import { help, UsageError, type Flags, type Print } from './cli/arguments'
import { InvalidConfigFile } from './config-file'
import { RequirementNotMet } from './install/requirement'
import { rememberOwnProgram } from './own-program'
import { InvalidAnswer } from './transport/answers'
import { HubRequestFailed } from './transport/hub-client'
import { isSmall, restartSmall } from './small-runtime'

type Command = (flags: Flags, print: Print) => Promise<number> | number

/** The commands. Each is loaded when it runs, so that the service has only its own code in memory. */
const commands: Record<string, () => Promise<Command>> = {
  enrol: async () => (await import('./cli/enrol')).enrol,
  run: async () => (await import('./cli/run-until-stopped')).runUntilStopped,
  status: async () => (await import('./cli/status')).status,
  doctor: async () => (await import('./cli/doctor')).doctor,
  'send-once': async () => (await import('./cli/send-once')).sendOnce,
  root: async () => (await import('./cli/root')).root,
  certificates: async () => (await import('./cli/certificates')).certificates,
  'read-certificates': async () => (await import('./cli/certificates')).readCertificates,
  'check-update': async () => (await import('./cli/check-update')).checkUpdate,
  units: async () => (await import('./install/install')).refreshUnits,
  disks: async () => (await import('./cli/disks')).disks,
  install: async () => (await import('./install/install')).install,
  uninstall: async () => (await import('./install/uninstall')).uninstall,
}

/** Runs the server agent as a program of its own: `bailiwick-agent`, or `bailiwick agent`. @returns the exit code */
export async function startAgent(args: readonly string[]): Promise<number> {
  rememberOwnProgram(args)
  // The settings must be known before the runtime starts.
  if (args[0] === 'run' && !isSmall()) restartSmall()
  return await runAgent(args, { out: text => write(1, text), err: text => write(2, text) })
}

/** Writes to a file descriptor, without the streams of `process`, which take 3 MB of memory. A closed pipe is not an error. */
function write(descriptor: number, text: string): void {
  try {
    writeSync(descriptor, text)
  } catch {}
}

/**
 * Runs a command of the server agent.
 * @returns the exit code: 0 success, 1 failure, 2 invalid arguments or settings, 78 the hub revoked the agent
 */
export async function runAgent(args: readonly string[], print: Print): Promise<number> {
  try {
    const { values, positionals } = await readArguments(args)
    if (values.version) return end(print, `${version}\n`)
    if (values.help) return end(print, help)
    const [name, ...rest] = positionals
    if (name === undefined) throw new UsageError('No command given.')
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (!command || rest.length > 0) throw new UsageError(`Unknown command: ${positionals.join(' ')}.`)
    return await (
      await command()
    )(values, print)
  } catch (error) {
    if (error instanceof UsageError) print.err(`${error.message}\nRun bailiwick-agent --help for usage.\n`)
    else if (error instanceof InvalidAnswer) print.err(`The hub’s response is invalid: ${error.message}.\n`)
    else if (knownErrors.some(kind => error instanceof kind) || isSystemError(error)) print.err(`${(error as Error).message}\n`)
    else throw error
    return error instanceof UsageError || error instanceof InvalidConfigFile ? 2 : 1
  }
}

const knownErrors = [InvalidConfigFile, HubRequestFailed, RequirementNotMet]

const isSystemError = (error: unknown) => /^E[A-Z]+$/.test(String((error as NodeJS.ErrnoException).code))

function end(print: Print, text: string): number {
  print.out(text)
  return 0
}

async function readArguments(
  args: readonly string[],
): Promise<{ values: Flags & { help?: boolean; version?: boolean }; positionals: readonly string[] }> {
  // The service has no options: without the parser, it needs 1 MB less memory.
  if (args.length === 1 && !args[0]!.startsWith('-')) return { values: {}, positionals: args }
  const { parseArgs } = await import('node:util')
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        config: { type: 'string' },
        hub: { type: 'string' },
        key: { type: 'string' },
        'hub-key': { type: 'string' },
        pin: { type: 'string' },
        allow: { type: 'string' },
        'without-tls': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'V' },
      },
    })
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split(/\n|\. /)[0]}.`)
  }
}
