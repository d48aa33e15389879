import { closeSync, openSync, readSync } from 'node:fs'
import type { AgentReport } from '../../wire/agent'
import { packageLimits } from '../../wire/agent-limits'
import { nameOf } from './line'
import { runProgram } from './program'
import type { Root } from './root'

type Packages = NonNullable<AgentReport['packages']>
/** A package as its package manager describes it. */
interface Found {
  name: string
  version: string
  arch: string
}

/** Names of the fields in the file of a package manager. */
interface Fields {
  name: string
  version: string
  arch: string
  /** The state, if packages that aren’t installed are in the file, too. */
  status?: string
}

interface PackageManager {
  /** At least one of these files changes when packages are installed or removed. The server has the package manager if one exists. */
  files: readonly [string, ...string[]]
  /** How the first of these files that exists is read, from paragraphs that are separated by empty lines. Null: by a program. */
  fields: Fields | null
}

const managers: readonly PackageManager[] = [
  {
    files: ['var/lib/dpkg/status'],
    fields: { name: 'Package: ', version: 'Version: ', arch: 'Architecture: ', status: 'Status: ' },
  },
  { files: ['usr/lib/apk/db/installed', 'lib/apk/db/installed'], fields: { name: 'P:', version: 'V:', arch: 'A:' } },
  {
    files: ['rpmdb.sqlite', 'rpmdb.sqlite-wal', 'Packages.db', 'Packages'].map(name => `var/lib/rpm/${name}`) as [string],
    fields: null,
  },
]

/** Architectures that are not added to the name of a package: the architecture of the server, and none. */
const ownArchitectures = new Set(
  ['all', 'noarch', '(none)', ''].concat(process.arch === 'arm64' ? ['arm64', 'aarch64'] : ['amd64', 'x86_64']),
)

/** Reads which packages are installed, again only if the database of the package manager has changed. */
export class InstalledPackages {
  private state: string | null = null
  /** What is missing in the packages of this state. */
  private missing: string | null = null

  constructor(private readonly root: Root) {}

  /** All packages by name; null if they are as before, or unknown. Without a known package manager, there are none. */
  async read(problem: (sentence: string) => void): Promise<Packages | null> {
    const { root } = this
    const existing = managers.filter(({ files }) => files.some(root.exists))
    const state = existing.flatMap(({ files }) => files.map(file => root.changedAt(file))).join()
    if (state === this.state) {
      if (this.missing !== null) problem(this.missing)
      return null
    }
    let found: Found[] = []
    for (const manager of existing) {
      const installed = await installedBy(manager, root, problem)
      if (installed === null) return null
      found = installed
      // The program dpkg can be installed without any package of its own, such as on Fedora.
      if (found.length > 0) break
    }
    this.state = state
    const packages = byName(found)
    const { packages: limit } = packageLimits
    this.missing = packages.length > limit ? `Only ${limit} of ${packages.length} installed packages are reported.` : null
    if (this.missing !== null) problem(this.missing)
    return packages.slice(0, limit)
  }
}

/** Null if they can’t be read. */
async function installedBy(
  { files, fields }: PackageManager,
  root: Root,
  problem: (sentence: string) => void,
): Promise<Found[] | null> {
  const found = fields === null ? await fromRpm(root, problem) : fromFile(root, files.find(root.exists)!, fields)
  if (found === null && fields !== null)
    problem(`Installed packages are unknown, because /${files.find(root.exists)} can’t be read.`)
  return found
}

/** One package for each name. Several versions of a kernel can be installed together. */
function byName(found: readonly Found[]): Packages {
  const versions = new Map<string, string[]>()
  for (const { name, version, arch } of found) {
    const full = nameOf(ownArchitectures.has(arch) ? name : `${name}:${arch}`, packageLimits.name)
    versions.set(full, [...(versions.get(full) ?? []), version])
  }
  return [...versions]
    .map(([name, all]) => ({ name, version: nameOf([...new Set(all)].sort().join(', '), packageLimits.version) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

const rpmFormat = '%{NAME}\\t%|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}\\t%{ARCH}\\n'
const rpmLimits = { timeoutMs: 60_000, maxBytes: 4 * 1024 * 1024 }

/** Only its own program reads the database of rpm. In a container that looks at its host, it isn’t there. */
async function fromRpm(root: Root, problem: (sentence: string) => void): Promise<Found[] | null> {
  if (!root.isOwn) return []
  const run = await runProgram(['rpm', '-qa', '--qf', rpmFormat], rpmLimits)
  if (typeof run !== 'object' || run.code !== 0) {
    problem(`Installed packages are unknown, because rpm ${run === 'timeout' ? 'took longer than a minute' : 'failed'}.`)
    return null
  }
  return run.out.split('\n').flatMap(line => {
    const [name = '', version = '', arch = ''] = line.split('\t')
    // Keys that packages are signed with.
    return name === '' || name === 'gpg-pubkey' ? [] : [{ name, version, arch }]
  })
}

const chunkBytes = 16 * 1024
/** Longer paragraphs, which list all files of a package in apk, are not complete in the memory at once. */
const maxParagraphBytes = 64 * chunkBytes
const separator = '\n\n'

/**
 * Reads packages from a file of paragraphs, in pieces and without making text of what isn’t needed: the file of dpkg has several megabytes
 * on a desktop, which would stay in the memory of the agent.
 */
function fromFile(root: Root, path: string, fields: Fields): Found[] | null {
  let file: number
  try {
    file = openSync(root.path(path), 'r')
  } catch {
    return null
  }
  try {
    const found: Found[] = []
    const add = (paragraph: Buffer) => {
      const one = packageIn(paragraph, fields)
      if (one) found.push(one)
    }
    let buffer = Buffer.allocUnsafeSlow(chunkBytes)
    // Each paragraph starts with the line break before it, so that all of its fields do.
    let length = buffer.write('\n')
    for (;;) {
      const read = readSync(file, buffer, length, buffer.length - length, null)
      if (read === 0) break
      length += read
      const filled = buffer.subarray(0, length)
      let start = 0
      for (let end; (end = filled.indexOf(separator, start)) >= 0; start = end + 1) add(filled.subarray(start, end))
      if (start === 0 && length === buffer.length) {
        if (length >= maxParagraphBytes) return null
        const larger = Buffer.allocUnsafeSlow(2 * length)
        buffer.copy(larger, 0, 0, length)
        buffer = larger
      } else {
        buffer.copyWithin(0, start, length)
        length -= start
      }
    }
    add(buffer.subarray(0, length))
    return found
  } catch {
    return null
  } finally {
    closeSync(file)
  }
}

/** Words of dpkg for packages that are installed, or were until they could not be updated completely. */
const isInstalled = (status: string): boolean => !/ (not-installed|config-files|half-installed)$/.test(status)

/** The package that a paragraph describes; null if none is installed. */
function packageIn(paragraph: Buffer, fields: Fields): Found | null {
  const name = fieldOf(paragraph, fields.name)
  const version = fieldOf(paragraph, fields.version)
  if (name === null || version === null) return null
  if (fields.status !== undefined && !isInstalled(fieldOf(paragraph, fields.status) ?? '')) return null
  return { name, version, arch: fieldOf(paragraph, fields.arch) ?? '' }
}

/** A field has at most this many bytes. */
const maxFieldBytes = 500

function fieldOf(paragraph: Buffer, name: string): string | null {
  const at = paragraph.indexOf(`\n${name}`)
  if (at < 0) return null
  const start = at + 1 + name.length
  const end = paragraph.indexOf(10, start)
  return paragraph.toString('latin1', start, Math.min(end < 0 ? paragraph.length : end, start + maxFieldBytes))
}
