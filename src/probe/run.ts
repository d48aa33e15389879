import { version } from '../core/version'

/** What a program says and how it ends: exit code, standard output, standard error. */
export interface Ending {
  code: number
  out: string
  err: string
}

/** The remote location, as `bailiwick-probe` and as `bailiwick probe`. Exit code 2 for arguments it does not know. */
export function runProbe(args: readonly string[]): Ending {
  const [first] = args
  if (args.length === 1 && (first === '--version' || first === '-V')) return { code: 0, out: `${version}\n`, err: '' }
  if (args.length === 1 && (first === '--help' || first === '-h')) return { code: 0, out: help, err: '' }
  return {
    code: 2,
    out: '',
    err: `This version of the probe has no such command: ${args.join(' ') || '(none)'}. ${enrolment}\nSee: bailiwick-probe --help\n`,
  }
}

const enrolment = 'Enrolling a location comes with a later version of Bailiwick.'

const help = `Usage: bailiwick-probe [options]

Runs a Bailiwick hub's monitors from another place on the network.
${enrolment}

Options:
  -V, --version  print the version
  -h, --help     print this text

Examples:
  bailiwick-probe --version
  bailiwick probe --version
`
