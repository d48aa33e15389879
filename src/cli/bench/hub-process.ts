import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig, type Config } from '../../core/config'

/** A folder for one bench, with settings for a hub in it; `remove` deletes it. */
export function scratch(): { config: Config; folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'))
  return {
    folder,
    // That a master key was made is no news of a folder that is thrown away.
    config: { ...loadConfig({ data: folder, listen: '127.0.0.1:0' }), logLevel: 'error' },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** A process of this program that listens on a port of its own. */
export interface Served {
  port: number
  pid: number
  stop(): Promise<void>
}

/** Starts this program again with `args`, and waits until it says where it serves. */
export async function serveAgain(args: string[]): Promise<Served> {
  // Compiled, the executable is this program; from source it is Bun, and the script comes first.
  const own = Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main]
  const child = Bun.spawn([...own, ...args], { stdout: 'pipe', stderr: 'inherit' })
  let printed = ''
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    printed += chunk
    const port = /:(\d+)\s*$/m.exec(printed)?.[1]
    if (port) {
      return {
        port: Number(port),
        pid: child.pid,
        async stop() {
          child.kill('SIGTERM')
          await child.exited
        },
      }
    }
  }
  throw new Error(`The process for the bench ended: ${printed}`)
}
