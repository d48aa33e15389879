import { version } from '../core/version'

/** What a program says and how it ends: exit code, standard output, standard error. */
export interface Ending {
  code: number
  out: string
  err: string
}

/** The server agent, as `bailiwick-agent` and as `bailiwick agent`. Exit code 2 for arguments it does not know. */
export function runAgent(args: readonly string[]): Ending {
  const [first] = args
  if (args.length === 1 && (first === '--version' || first === '-V')) return { code: 0, out: `${version}\n`, err: '' }
  if (args.length === 1 && (first === '--help' || first === '-h')) return { code: 0, out: help, err: '' }
  return {
    code: 2,
    out: '',
    err: `This version of the agent has no such command: ${args.join(' ') || '(none)'}. ${enrolment}\nSee: bailiwick-agent --help\n`,
  }
}

const enrolment = 'Enrolling a server comes with a later version of Bailiwick.'

const help = `Usage: bailiwick-agent [options]

Reports a server's load, memory, disks and network to a Bailiwick hub.
${enrolment}

Options:
  -V, --version  print the version
  -h, --help     print this text

Examples:
  bailiwick-agent --version
  bailiwick agent --version
`
