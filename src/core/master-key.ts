import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { randomBytes } from 'node:crypto'
import { InvalidSetting } from './config'

/** The master keys in a key file. During a rotation it holds both the new and the old one. */
export interface MasterKeys {
  current: Uint8Array
  /** The second line: the key being replaced. */
  previous: Uint8Array | null
}

/**
 * Reads the key file: one line with 32 bytes in base64 or hex and, during a rotation, a second line with the previous key.
 * @param create whether to create a missing file; only for the default path
 * @throws InvalidSetting when the file is missing, readable by others, or holds no key
 */
export function loadMasterKey(
  file: string,
  create: boolean,
): {
  key: Uint8Array
  previous: Uint8Array | null
  created: boolean
} {
  if (!existsSync(file)) {
    if (!create)
      throw new InvalidSetting(
        `BAILIWICK_MASTER_KEY_FILE: ${file} does not exist. Create it with: head -c 32 /dev/urandom | base64 > FILE; chmod 600 FILE`,
      )
    const key = randomBytes(32)
    if (writeNew(file, `${key.toString('base64')}\n`)) return { key, previous: null, created: true }
  }
  if ((statSync(file).mode & 0o077) !== 0)
    throw new InvalidSetting(`The master key file ${file} is readable by other users. Run: chmod 600 ${file}`)
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  const key = keyOf(lines[0]!)
  if (!key) throw new InvalidSetting(`The first line of the master key file ${file} is not a 32-byte key in base64 or hex.`)
  if (lines.length > 2) throw new InvalidSetting(`The master key file ${file} has ${lines.length} lines; at most 2 are allowed.`)
  const previous = lines[1] === undefined ? null : keyOf(lines[1])
  if (lines[1] !== undefined && !previous)
    throw new InvalidSetting(`The second line of the master key file ${file} is not a 32-byte key in base64 or hex.`)
  return { key, previous, created: false }
}

/**
 * Replaces the keys in the key file atomically and durably, keeping its owner and mode.
 * @throws the system error if the folder is not writable or the file is a mount point
 */
export function replaceMasterKeys(file: string, { current, previous }: MasterKeys): void {
  // If the path is a symbolic link, replace the file it points to.
  const real = realpathSync(file)
  const { uid, gid } = statSync(real)
  const draft = `${real}.${process.pid}`
  const handle = openSync(draft, 'w', 0o600)
  try {
    fchmodSync(handle, 0o600)
    if (process.getuid?.() === 0) fchownSync(handle, uid, gid)
    writeSync(handle, [current, ...(previous ? [previous] : [])].map(key => `${Buffer.from(key).toString('base64')}\n`).join(''))
    fsyncSync(handle)
    renameSync(draft, real)
    const folder = openSync(dirname(real), 'r')
    fsyncSync(folder)
    closeSync(folder)
  } finally {
    closeSync(handle)
    rmSync(draft, { force: true })
  }
}

function keyOf(line: string): Uint8Array | null {
  const text = line.trim()
  const key = /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64')
  return key.length === 32 ? key : null
}

/**
 * Creates a file atomically and durably, unless it exists. When several processes start at the same time, only one creates the
 * key, and none reads a partial file.
 */
function writeNew(file: string, text: string): boolean {
  mkdirSync(dirname(file), { recursive: true })
  const draft = `${file}.${process.pid}`
  const handle = openSync(draft, 'w', 0o600)
  try {
    writeSync(handle, text)
    fsyncSync(handle)
    linkSync(draft, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  } finally {
    closeSync(handle)
    rmSync(draft, { force: true })
  }
}
