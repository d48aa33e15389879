import type { AgentFacts } from '../../wire/agent'
import { runProgram } from './program'
import type { Root } from './root'

type Updates = Pick<AgentFacts, 'updates' | 'security_updates'>

/** A command that lists updates, and the lines of its output that each stand for one. */
interface UpdateList {
  command: [string, ...string[]]
  line: RegExp
}

interface PackageManager {
  /** Files that change when packages are installed, or their lists are refreshed. The server has it if the first one exists and isn’t empty. */
  files: readonly [string, ...string[]]
  /** Lists updates from the package lists that are on the server, without refreshing them. */
  all: UpdateList
  /** Lists security updates. Null if the package manager doesn’t know which these are. */
  security: UpdateList | null
}

const aptUpgrade: UpdateList['command'] = ['apt-get', '-s', '-o', 'Debug::NoLocking=true', 'dist-upgrade']
// openssl.x86_64    1:3.0.7-27.el9    baseos
const dnfLine = /^\S+\.\S+[ \t]+\S+[ \t]+\S+[ \t]*$/gm

export const packageManagers = {
  apt: {
    files: ['var/lib/dpkg/status', 'var/lib/apt/lists'],
    // Inst openssl [3.0.1] (3.0.2 Debian-Security:12/stable-security [amd64])
    all: { command: aptUpgrade, line: /^Inst \S+ \[/gm },
    security: { command: aptUpgrade, line: /^Inst \S+ \[[^\]]*\] \([^)]*security/gim },
  },
  dnf: {
    files: ['var/lib/rpm', 'var/cache/dnf'],
    all: { command: ['dnf', '-C', '-q', 'check-update'], line: dnfLine },
    security: { command: ['dnf', '-C', '-q', 'check-update', '--security'], line: dnfLine },
  },
  apk: {
    files: ['lib/apk/db/installed', 'var/cache/apk'],
    // openssl-3.1.4-r0      < 3.1.4-r5
    all: { command: ['apk', '--no-network', 'version', '-l', '<'], line: /^\S+\s+< \S+/gm },
    security: null,
  },
} satisfies Record<string, PackageManager>

const limits = { timeoutMs: 60_000, maxBytes: 4 * 1024 * 1024 }

/**
 * Counts the packages with updates, again only if something changed: apt needs seconds of CPU time. Unknown in a container that looks
 * at its host, and without a known package manager.
 */
export class PackageUpdates {
  private known: { state: string; updates: Updates } | null = null

  constructor(private readonly root: Root) {}

  async read(problem: (sentence: string) => void): Promise<Updates> {
    const { root } = this
    const manager = root.isOwn ? managerOf(root) : undefined
    if (!manager) return {}
    const state = manager.files.map(file => root.changedAt(file)).join()
    if (this.known?.state !== state) this.known = { state, updates: await readUpdates(manager, problem) }
    return this.known.updates
  }
}

/** The package manager of a server. The program dpkg can be installed without any package of its own, such as on Fedora. */
export const managerOf = (root: Root): PackageManager | undefined =>
  Object.values(packageManagers).find(({ files: [file] }) => root.exists(file) && root.start(file, 1)?.length !== 0)

async function readUpdates({ all, security }: PackageManager, problem: (sentence: string) => void): Promise<Updates> {
  const output = await run(all.command, problem)
  if (output === null) return {}
  const securityOutput = security && (security.command === all.command ? output : await run(security.command, problem))
  return {
    updates: countUpdates(all, output),
    ...(security && securityOutput != null && { security_updates: countUpdates(security, securityOutput) }),
  }
}

/** Counts the updates in the output of a command. Packages that dnf would replace by others are listed after the updates. */
export const countUpdates = ({ line }: Pick<UpdateList, 'line'>, output: string): number =>
  output.replace(/^Obsoleting Packages[\s\S]*/m, '').match(line)?.length ?? 0

async function run(command: UpdateList['command'], problem: (sentence: string) => void): Promise<string | null> {
  const result = await runProgram(command, limits)
  // dnf exits with 100 if there are updates.
  if (typeof result === 'object' && (result.code === 0 || result.code === 100)) return result.out
  const reason = result === 'timeout' ? 'took longer than a minute' : 'failed'
  if (result !== 'missing') problem(`Package updates are unknown, because ${command[0]} ${reason}.`)
  return null
}
