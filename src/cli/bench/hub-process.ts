import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
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
  const child = again(args)
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

/** Resident memory of a process, from Linux's /proc; NaN elsewhere. */
export function residentBytes(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
  } catch {
    return Number.NaN
  }
}

/** CPU time that a process has taken, in seconds, from Linux's /proc (proc_pid_stat(5)); NaN elsewhere. */
export function cpuSecondsOf(pid: number): number {
  try {
    // Behind the name, which may hold anything: `utime` and `stime` are the 12th and 13th from there.
    const members = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return (Number(members[11]) + Number(members[12])) / ticksPerSecond
  } catch {
    return Number.NaN
  }
}

/** What has passed on all cores, and what of it the host of a virtual machine gave to others, from Linux's /proc (proc_stat(5)); NaN elsewhere. */
export function machineTime(): { stolen: number; all: number } {
  try {
    // user, nice, system, idle, iowait, irq, softirq, steal; what guests took is in `user` as well.
    const parts = /^cpu +(.*)/.exec(readFileSync('/proc/stat', 'utf8'))![1]!.split(' ').slice(0, 8).map(Number)
    return { stolen: parts[7]!, all: parts.reduce((sum, part) => sum + part, 0) }
  } catch {
    return { stolen: Number.NaN, all: Number.NaN }
  }
}

// USER_HZ, which Linux has kept at 100 for programs on every architecture that this one is built for.
const ticksPerSecond = 100

/** Runs this program again with `args` to its end, and gives what it printed. @throws Error when it fails */
export async function runAgain(args: string[]): Promise<string> {
  const child = again(args)
  const printed = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`The process for the bench failed: ${printed}`)
  return printed
}

function again(args: string[]) {
  // Compiled, the executable is this program; from source it is Bun, and the script comes first.
  const own = Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main]
  return Bun.spawn([...own, ...args], { stdout: 'pipe', stderr: 'inherit' })
}
