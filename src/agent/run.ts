import { version } from '../core/version'

/** The result of running the program: exit code, standard output, standard error. */
interface ProgramResult {
  code: number
  out: string
  err: string
}

/** The server agent, as `bailiwick-agent` and as `bailiwick agent`. The exit code is 2 for unknown arguments. */
export function runAgent(args: readonly string[]): ProgramResult {
  const [first] = args
  if (args.length === 1 && (first === '--version' || first === '-V')) return { code: 0, out: `${version}\n`, err: '' }
  if (args.length === 1 && (first === '--help' || first === '-h')) return { code: 0, out: help, err: '' }
  return {
    code: 2,
    out: '',
    err: `${args.length === 0 ? 'No command given.' : `Unknown command: ${args.join(' ')}.`} ${notAvailable}\nRun bailiwick-agent --help for usage.\n`,
  }
}

const notAvailable = 'The agent cannot collect data yet. This will be added in a later version of Bailiwick.'

const help = `Usage: bailiwick-agent [options]

Reports CPU load, memory, disk, and network usage of a server to a Bailiwick hub.

${notAvailable}

Options:
  -V, --version  Show the version
  -h, --help     Show this help

Examples:
  bailiwick-agent --version
  bailiwick agent --version
`
