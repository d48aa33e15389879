import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { BadSetting } from '../core/config'

/**
 * Makes this process the only hub of a data folder. A lock that a dead process left is taken over.
 * @returns gives the lock back
 * @throws BadSetting when a living hub holds it
 */
export function lockFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'hub.lock')
  for (;;) {
    try {
      const handle = openSync(file, 'wx', 0o600)
      writeSync(handle, `${process.pid} ${startOf(process.pid)}\n`)
      closeSync(handle)
      return () => rmSync(file, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      const [pid, start] = readFileSync(file, 'utf8').trim().split(' ')
      if (pid && isAlive(Number(pid)) && startOf(Number(pid)) === (start ?? '')) {
        throw new BadSetting(`The data folder ${folder} is in use by the hub with process id ${pid}. Stop it first, or choose another folder with --data.`)
      }
      rmSync(file, { force: true })
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** When a process began, in the kernel's ticks: a process id that was given out again is another process. Empty where /proc is missing. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}
