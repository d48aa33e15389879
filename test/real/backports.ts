import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { succeeds } from '../support/suite'

/** Installs packages from the backports of this Debian release, with a package list of its own: the lists of the machine don’t change. */
export async function installBackports(packages: readonly string[]): Promise<boolean> {
  const codename = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1]
  const mirror = configuredMirror()
  if (codename === undefined || mirror === null) return false
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-backports-'))
  try {
    for (const name of ['lists/partial', 'cache/archives/partial']) mkdirSync(join(folder, name), { recursive: true })
    const sources = [codename, `${codename}-backports`].map(suite => `deb [signed-by=${keyring}] ${mirror} ${suite} main\n`)
    writeFileSync(join(folder, 'sources.list'), sources.join(''))
    const options = {
      'Dir::Etc::sourcelist': join(folder, 'sources.list'),
      'Dir::Etc::sourceparts': '-',
      'Dir::State::lists': join(folder, 'lists'),
      'Dir::Cache': join(folder, 'cache'),
    }
    const aptGet = ['apt-get', '-qq', ...Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])]
    const env = { DEBIAN_FRONTEND: 'noninteractive' }
    if (!(await succeeds([...aptGet, 'update'], env))) return false
    const install = ['install', '-y', '--no-install-recommends', '-t', `${codename}-backports`, ...packages]
    return await succeeds([...aptGet, ...install], env)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** The mirror that this machine uses, from either format of its sources. */
export function configuredMirror(): string | null {
  const texts = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list']
    .filter(existsSync)
    .map(file => readFileSync(file, 'utf8'))
  const found = texts.map(text => /^(?:URIs: *|deb (?:\[[^\]]*\] *)?)(\S+)/m.exec(text)?.[1])
  return found.find(one => one !== undefined) ?? null
}
