import { createHash } from 'node:crypto'
import { open, readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Hub } from '../../../core/hub'
import { conflict } from '../../../core/problem'
import { version } from '../../../core/version'
import type { CommandParams } from '../../../wire/agent-command'
import { agentPlatforms } from '../../../wire/agent-platforms'
import type { AgentRow } from './rows'

declare module '../../../core/hub' {
  interface Hub {
    /** File of the hub’s program, in whose folder the programs of agents are. */
    program: string
  }
}

/** A program that servers can download. */
interface AgentFile {
  /** Operating system, architecture, and variant, such as `linux-x64` or `linux-arm64-musl`. */
  platform: string
  path: string
  size: number
  /** SHA-256 in hexadecimal. */
  sha256: string
}

const platforms = new Set<string>(agentPlatforms)

/** The path of the loader is at the start of a program (ELF). */
const loaderBytes = 4096

/**
 * The agents that this hub can give to servers: `bailiwick-agent` for its own platform and `bailiwick-agent-<platform>` for others, in
 * the folder of the hub’s program. Without the first, the hub’s program, which contains the agent.
 */
export async function agentFiles({ program }: Pick<Hub, 'program'>): Promise<AgentFile[]> {
  const folder = dirname(program)
  const paths = new Map<string, string>()
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const found = name === 'bailiwick-agent' ? await ownPlatform(path) : name.replace(/^bailiwick-agent-/, '')
    if (platforms.has(found)) paths.set(found, path)
  }
  if (basename(program).startsWith('bailiwick')) {
    const own = await ownPlatform(program)
    if (!paths.has(own)) paths.set(own, program)
  }
  // One after the other, because each reads 100 MB.
  const files: AgentFile[] = []
  for (const [name, path] of [...paths].sort()) files.push({ platform: name, path, ...(await digestOf(path)) })
  return files
}

/** The platform of a program that was built together with this hub. */
async function ownPlatform(path: string): Promise<string> {
  const start = await Bun.file(path).slice(0, loaderBytes).text()
  return `linux-${process.arch}${start.includes('/ld-musl-') ? '-musl' : ''}`
}

/** What the installer reads: the version, and a line for each file. */
export const manifestOf = (files: readonly AgentFile[]): string =>
  [`version ${version}`, ...files.map(({ platform: name, sha256, size }) => `${name} ${sha256} ${size}`), ''].join('\n')

/** The version of this hub for an agent. Reads the program. @throws Problem 409 if there is none for its platform */
export async function programFor(hub: Hub, { facts }: Pick<AgentRow, 'facts'>): Promise<CommandParams['update']> {
  const wanted = facts?.agent_platform
  const file = wanted === undefined ? undefined : (await agentFiles(hub)).find(one => one.platform === wanted)
  if (file) return { version, sha256: file.sha256, size: file.size, path: `/download/agent/${file.platform}` }
  throw conflict(
    wanted === undefined
      ? 'The agent has not reported which program its server needs.'
      : `This hub has no agent for ${wanted}. To add it, put the program \`bailiwick-agent-${wanted}\` of version ${version} into the folder of the hub’s program.`,
  )
}

/** Digests by path, with the size and time of the file that they are of. */
const digests = new Map<string, { of: string; digest: Promise<string> }>()

async function digestOf(path: string): Promise<{ size: number; sha256: string }> {
  const { size, mtimeMs } = await stat(path)
  const of = `${size} ${mtimeMs}`
  let known = digests.get(path)
  if (known?.of !== of) {
    known = { of, digest: sha256Of(path) }
    digests.set(path, known)
    known.digest.catch(() => digests.delete(path))
  }
  return { size, sha256: await known.digest }
}

/** In pieces, so that other requests are served in the meantime. */
async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  await using file = await open(path)
  const buffer = Buffer.alloc(1024 * 1024)
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.byteLength)
    if (bytesRead === 0) return hash.digest('hex')
    hash.update(buffer.subarray(0, bytesRead))
  }
}
