import { createHash } from 'node:crypto'
import { open, readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { version } from '../../core/version'

/** A program that servers can download. */
interface AgentFile {
  /** Operating system, architecture, and variant, such as `linux-x64` or `linux-arm64-musl`. */
  platform: string
  path: string
  size: number
  /** SHA-256 in hexadecimal. */
  sha256: string
}

/** Platforms of the agent, as builds of the runtime are called. */
const platform = /^linux-(x64|arm64)(-musl)?(-baseline)?$/

/** The platform of this program. */
const ownPlatform = `linux-${process.arch}`

/**
 * The agents that this hub can give to servers: `bailiwick-agent` for its own platform and `bailiwick-agent-<platform>` for others, in
 * the folder of the hub’s program. Without the first, the hub’s program, which contains the agent.
 * @param program file of the hub’s program
 */
export async function agentFiles(program: string): Promise<AgentFile[]> {
  const folder = dirname(program)
  const paths = new Map<string, string>()
  for (const name of await readdir(folder)) {
    const found = name === 'bailiwick-agent' ? ownPlatform : name.replace(/^bailiwick-agent-/, '')
    if (platform.test(found)) paths.set(found, join(folder, name))
  }
  if (!paths.has(ownPlatform) && basename(program).startsWith('bailiwick')) paths.set(ownPlatform, program)
  // One after the other, because each reads 100 MB.
  const files: AgentFile[] = []
  for (const [name, path] of [...paths].sort()) files.push({ platform: name, path, ...(await digestOf(path)) })
  return files
}

/** What the installer reads: the version, and a line for each file. */
export const manifestOf = (files: readonly AgentFile[]): string =>
  [`version ${version}`, ...files.map(({ platform: name, sha256, size }) => `${name} ${sha256} ${size}`), ''].join('\n')

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
