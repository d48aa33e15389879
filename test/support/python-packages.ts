import { readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { succeeds } from './suite'

/** Steps that install the packages of a requirements file in a virtual environment. */
export const venvSteps = (folder: string, requirements: string): string[][] => [
  ['python3', '-m', 'venv', '--clear', folder],
  [join(folder, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '-r', requirements],
]

/**
 * Runs steps that install something in a folder that is kept between runs, unless these versions are already installed there.
 * @returns whether they are installed
 */
export async function installOnce(folder: string, versions: string, steps: string[][], env: Record<string, string> = {}) {
  const stamp = join(folder, 'installed')
  if (isInstalled(stamp, versions)) return true
  if (!Bun.which('python3')) return false
  // A second attempt, because a registry can be briefly unavailable.
  for (const step of steps) if (!(await succeeds(step, env)) && !(await succeeds(step, env))) return false
  writeFileSync(stamp, versions)
  return true
}

function isInstalled(stamp: string, versions: string): boolean {
  try {
    return readFileSync(stamp, 'utf8') === versions
  } catch {
    return false
  }
}

const dnsClients = join(homedir(), '.cache/bailiwick-dns-clients')
const requirements = resolve('test/real/dns-clients/requirements.txt')

/** Installs the clients of DNS providers that the doubles are tested with. Returns whether they are installed. */
export const installDnsClients = (): Promise<boolean> =>
  installOnce(dnsClients, readFileSync(requirements, 'utf8'), venvSteps(dnsClients, requirements))

/** Path of an installed program, such as `python`. */
export const dnsClient = (program: string): string => join(dnsClients, 'bin', program)

/** Runs an installed program and returns its output. @throws with the output, if it fails */
export async function runDnsClient(args: [program: string, ...string[]], env: Record<string, string>): Promise<string> {
  const [program, ...others] = args
  const run = Bun.spawn([dnsClient(program), ...others], {
    cwd: 'test/real/dns-clients',
    env: { PATH: process.env.PATH, HOME: '/nonexistent', PYTHONDONTWRITEBYTECODE: '1', ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 120_000,
  })
  const [out, err, code] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text(), run.exited])
  if (code !== 0) throw new Error(`${args.join(' ')} exited with ${code}:\n${out}${err}`)
  return out + err
}

const bmcServers = join(homedir(), '.cache/bailiwick-bmc-servers')
const bmcRequirements = resolve('test/real/bmc-servers/requirements.txt')

/** Installs simulated BMCs. Returns whether they are installed. */
export const installBmcServers = (): Promise<boolean> =>
  installOnce(bmcServers, readFileSync(bmcRequirements, 'utf8'), venvSteps(bmcServers, bmcRequirements))

/** Path of a simulated BMC, such as `fakebmc`. */
export const bmcServer = (program: string): string => join(bmcServers, 'bin', program)
