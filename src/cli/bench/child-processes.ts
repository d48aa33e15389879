import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig, type Config } from '../../core/config'
import { fetchUnrestricted } from '../unrestricted-fetch'

/** Creates a temporary folder and the settings of a hub in it. `remove` deletes the folder. */
export function temporaryInstallation(): { config: Config; folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'))
  return {
    folder,
    // Suppresses the log message about the new master key.
    config: { ...loadConfig({ data: folder, listen: '127.0.0.1:0' }), logLevel: 'error' },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** A process of this program that listens on a port. */
export interface ServerProcess {
  port: number
  pid: number
  stop(): Promise<void>
}

/** Starts this program with `args` and waits until it prints the port it listens on. @param env additional environment variables */
export async function startServer(args: string[], env: Record<string, string> = {}): Promise<ServerProcess> {
  const child = spawnSelf(args, env)
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
  throw new Error(`The benchmark process exited: ${printed}`)
}

/**
 * Resident memory of a process, from Linux's /proc (proc_pid_status(5)); NaN elsewhere.
 * @param kind `RssAnon`: only its own memory, without pages of files, which the kernel can drop
 */
export function residentBytes(pid: number, kind: 'VmRSS' | 'RssAnon' = 'VmRSS'): number {
  try {
    return Number(new RegExp(`${kind}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
  } catch {
    return Number.NaN
  }
}

/** How long the event loop of a hub was blocked since the last call, at most, in milliseconds. */
export async function longestBlockMs({ port }: ServerProcess): Promise<number> {
  const { body } = await fetchUnrestricted(
    { method: 'GET', url: `http://127.0.0.1:${port}/metrics` },
    { totalMs: 60_000, maxBodyBytes: 100_000_000 },
  )
  const text = new TextDecoder().decode(body)
  return Number(/^bailiwick_event_loop_lag_seconds\{percentile="100"\} (\S+)$/m.exec(text)![1]) * 1000
}

/**
 * CPU time used by a process in seconds, from Linux's /proc (proc_pid_stat(5)); NaN elsewhere.
 * @param withChildren includes children that have ended
 */
export function cpuSecondsOf(pid: number, withChildren = false): number {
  try {
    // Skip the process name, which can contain any character. `utime`, `stime`, `cutime`, and `cstime` start at the 12th field after it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return fields.slice(11, withChildren ? 15 : 13).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond
  } catch {
    return Number.NaN
  }
}

/**
 * Time passed on all cores, and how much of it the host gave to other virtual machines, from Linux's /proc (proc_stat(5)); NaN
 * elsewhere.
 */
export function machineTime(): { stolen: number; all: number } {
  try {
    // user, nice, system, idle, iowait, irq, softirq, steal. The time of guests is already included in `user`.
    const parts = /^cpu +(.*)/.exec(readFileSync('/proc/stat', 'utf8'))![1]!.split(' ').slice(0, 8).map(Number)
    return { stolen: parts[7]!, all: parts.reduce((sum, part) => sum + part, 0) }
  } catch {
    return { stolen: Number.NaN, all: Number.NaN }
  }
}

/**
 * How long the main thread of a process waited for a free core since it started, in seconds, from Linux's /proc (schedstat); NaN
 * elsewhere. If it waited for long, other programs delayed it.
 */
export function waitedSecondsOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e9
  } catch {
    return Number.NaN
  }
}

// USER_HZ, which is 100 on all supported architectures.
const ticksPerSecond = 100

/** Runs this program with `args` until it exits. @returns its output @throws Error if it fails */
export async function runToEnd(args: string[]): Promise<string> {
  const child = spawnSelf(args)
  const printed = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`The benchmark process failed: ${printed}`)
  return printed
}

function spawnSelf(args: string[], env: Record<string, string> = {}) {
  // When run from source, the executable is Bun and the first argument is the script.
  const command = Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main]
  // Through env(1), because only the settings read the environment, which has to be passed on with an option of Bun.spawn.
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  return Bun.spawn(['/usr/bin/env', ...variables, ...command, ...args], { stdout: 'pipe', stderr: 'inherit' })
}
