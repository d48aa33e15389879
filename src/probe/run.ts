import { version } from '../core/version'

/** The result of running the program: exit code, standard output, standard error. */
interface ProgramResult {
  code: number
  out: string
  err: string
}

/** The remote probe, as `bailiwick-probe` and as `bailiwick probe`. The exit code is 2 for unknown arguments. */
export function runProbe(args: readonly string[]): ProgramResult {
  const [first] = args
  if (args.length === 1 && (first === '--version' || first === '-V')) return { code: 0, out: `${version}\n`, err: '' }
  if (args.length === 1 && (first === '--help' || first === '-h')) return { code: 0, out: help, err: '' }
  return {
    code: 2,
    out: '',
    err: `${args.length === 0 ? 'No command given.' : `Unknown command: ${args.join(' ')}.`} ${notAvailable}\nRun bailiwick-probe --help for usage.\n`,
  }
}

const notAvailable = 'The probe cannot run checks yet. This will be added in a later version of Bailiwick.'

const help = `Usage: bailiwick-probe [options]

Runs the checks of a Bailiwick hub from another location.

${notAvailable}

Options:
  -V, --version  Show the version
  -h, --help     Show this help

Examples:
  bailiwick-probe --version
  bailiwick probe --version
`
