import { createHash } from 'node:crypto'
import { open, readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Hub } from '../../../core/hub'
import { conflict } from '../../../core/problem'
import { version } from '../../../core/version'
import type { CommandParams } from '../../../wire/agent-command'
import { agentPlatforms } from '../../../wire/agent-platforms'
import { isVersion, programMark } from '../../../wire/agent-version'
import type { AgentRow } from './rows'
import type { AgentProgramView } from './shapes'

declare module '../../../core/hub' {
  interface Hub {
    /** File of the hub’s program, in whose folder the programs of agents are. */
    program: string
  }
}

/** A program of the agent for a platform, in the folder of the hub’s program. */
interface AgentFile {
  /** Operating system, architecture, and variant, such as `linux-x64` or `linux-arm64-musl`. */
  platform: string
  path: string
  size: number
  /** SHA-256 in hexadecimal. */
  sha256: string
  /** The version that it contains; null if it contains none. */
  version: string | null
}

const platforms = new Set<string>(agentPlatforms)

/** The path of the loader is at the start of a program (ELF). */
const loaderBytes = 4096

/**
 * The agents that this hub can give to servers: `bailiwick-agent` for its own platform and `bailiwick-agent-<platform>` for others, in
 * the folder of the hub’s program. Programs of other versions, such as of an earlier release, are not served. Without one for its own
 * platform, the hub’s program, which contains the agent.
 */
export const agentFiles = async (hub: Pick<Hub, 'program'>): Promise<AgentFile[]> =>
  (await foundFiles(hub)).filter(file => file.version === version)

/** The programs of agents, whatever their versions. */
async function foundFiles({ program }: Pick<Hub, 'program'>): Promise<AgentFile[]> {
  const folder = dirname(program)
  const found = new Map<string, AgentFile>()
  // One after the other, because each reads 100 MB.
  for (const name of (await readdir(folder)).sort()) {
    const path = join(folder, name)
    const platform = name === 'bailiwick-agent' ? await ownPlatform(path) : name.replace(/^bailiwick-agent-/, '')
    if (!platforms.has(platform) || found.get(platform)?.version === version) continue
    found.set(platform, { platform, path, ...(await contentsOf(path)) })
  }
  if (basename(program).startsWith('bailiwick')) {
    const own = await ownPlatform(program)
    if (found.get(own)?.version !== version)
      found.set(own, { platform: own, path: program, ...(await contentsOf(program)), version })
  }
  return [...found.values()].sort((a, b) => (a.platform < b.platform ? -1 : 1))
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
  if (wanted === undefined) throw conflict('The agent has not reported which program its server needs.')
  const file = (await foundFiles(hub)).find(one => one.platform === wanted)
  if (file?.version !== version) throw conflict(whyMissing(wanted, file))
  return { version, sha256: file.sha256, size: file.size, path: `/download/agent/${file.platform}` }
}

/** For each platform, whether this hub has its version of the agent, or why not. Reads the programs. */
export async function agentPrograms(hub: Pick<Hub, 'program'>): Promise<AgentProgramView[]> {
  const files = await foundFiles(hub)
  return agentPlatforms.map(platform => {
    const file = files.find(one => one.platform === platform)
    if (file?.version === version) return { platform, state: 'available', reason: null }
    return { platform, state: file ? 'other_version' : 'missing', reason: whyMissing(platform, file) }
  })
}

/** Why this hub has no program for a platform. @param file the program of another version that is there instead */
function whyMissing(platform: string, file: AgentFile | undefined): string {
  if (!file)
    return `This hub has no agent for ${platform}. To add it, put the program \`bailiwick-agent-${platform}\` of version ${version} into the folder of the hub’s program.`
  const is = file.version === null ? 'is from another release' : `has version ${file.version}`
  return `The program \`${basename(file.path)}\` in the folder of the hub’s program ${is}. To update agents for ${platform}, replace it with the one of version ${version}.`
}

type Contents = Pick<AgentFile, 'size' | 'sha256' | 'version'>

/** What is known of programs by path, with the size and time of the file that it is of. */
const known = new Map<string, { of: string; contents: Promise<Contents> }>()

async function contentsOf(path: string): Promise<Contents> {
  const { size, mtimeMs } = await stat(path)
  const of = `${size} ${mtimeMs}`
  let one = known.get(path)
  if (one?.of !== of) {
    one = { of, contents: read(path, size) }
    known.set(path, one)
    one.contents.catch(() => known.delete(path))
  }
  return await one.contents
}

/** A version and what precedes it have fewer bytes. */
const markBytes = 200

/** In pieces, so that other requests are served in the meantime. */
async function read(path: string, size: number): Promise<Contents> {
  const hash = createHash('sha256')
  let found: string | null = null
  await using file = await open(path)
  // The end of a piece is searched together with the next one.
  const buffer = Buffer.alloc(markBytes + 1024 * 1024)
  for (;;) {
    const { bytesRead } = await file.read(buffer, markBytes, buffer.byteLength - markBytes)
    if (bytesRead === 0) return { size, sha256: hash.digest('hex'), version: found }
    const end = markBytes + bytesRead
    hash.update(buffer.subarray(markBytes, end))
    found ??= versionIn(buffer.subarray(0, end))
    buffer.copyWithin(0, end - markBytes, end)
  }
}

/** The version that a part of a program contains; null if it contains none. */
function versionIn(bytes: Buffer): string | null {
  for (let at = bytes.indexOf(programMark); at !== -1; at = bytes.indexOf(programMark, at + 1)) {
    const rest = bytes.toString('latin1', at + programMark.length, at + markBytes)
    const [text] = /^[^\s"']+(?=\s)/.exec(rest) ?? []
    if (isVersion(text)) return text
  }
  return null
}
