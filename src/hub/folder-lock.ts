import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BadSetting } from '../core/config'
import { lockFile } from '../core/db/file-lock'

/**
 * Makes this process the only hub of a data folder, until it gives the lock back or ends, however it ends.
 * @returns gives the lock back
 * @throws BadSetting when another hub holds it
 */
export function lockFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true })
  const unlock = lockFile(join(folder, 'hub.lock'))
  const pidFile = pidFileOf(folder)
  if (!unlock) {
    const holder = `the hub with process id ${readPid(pidFile)}`
    throw new BadSetting(`The data folder ${folder} is in use by ${holder}. Stop it first, or choose another folder with --data.`)
  }
  writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 })
  return () => {
    rmSync(pidFile, { force: true })
    unlock()
  }
}

/** Names the process that holds a folder, for people and messages: a hub that was killed leaves it behind. */
export const pidFileOf = (folder: string): string => join(folder, 'hub.pid')

function readPid(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return '(unknown)'
  }
}
