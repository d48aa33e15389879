import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { InvalidSetting } from '../core/config'
import { lockFile } from '../core/db/file-lock'

const lockName = 'hub.lock'
const pidName = 'hub.pid'
const addressName = 'hub.json'
/** The files of a lock in a data folder. */
export const lockFiles: readonly string[] = [lockName, `${lockName}-journal`, pidName, addressName]

/**
 * Locks a data folder, so that only one hub uses it. The lock is released when the process exits, even if it is killed.
 * @returns a function that releases the lock
 * @throws InvalidSetting if another hub holds the lock
 */
export function lockFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true })
  const unlock = lockFile(join(folder, lockName))
  const pidFile = pidFileOf(folder)
  if (!unlock) {
    const holder = `the hub with process id ${readPid(pidFile)}`
    throw new InvalidSetting(
      `The data folder ${folder} is in use by ${holder}. Stop that hub first, or choose another folder with --data.`,
    )
  }
  // A killed hub leaves its address behind.
  rmSync(addressFileOf(folder), { force: true })
  writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 })
  return () => {
    rmSync(addressFileOf(folder), { force: true })
    rmSync(pidFile, { force: true })
    unlock()
  }
}

/** File with the ID of the process that holds the lock, for error messages. A killed hub leaves it behind. */
export const pidFileOf = (folder: string): string => join(folder, pidName)

const addressFileOf = (folder: string): string => join(folder, addressName)

/** Where a running hub accepts connections. */
interface HubAddress {
  host: string
  port: number
  https: boolean
}

/** Records where the hub of a data folder is listening, for commands on the same machine. */
export function recordAddress(folder: string, address: HubAddress): void {
  writeFileSync(addressFileOf(folder), `${JSON.stringify(address)}\n`, { mode: 0o600 })
}

/** Where the hub that holds the lock is listening; null if it isn't recorded. */
export function recordedAddress(folder: string): HubAddress | null {
  try {
    return JSON.parse(readFileSync(addressFileOf(folder), 'utf8')) as HubAddress
  } catch {
    return null
  }
}

function readPid(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return '(unknown)'
  }
}
