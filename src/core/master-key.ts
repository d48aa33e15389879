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
import { BadSetting } from './config'

/** The master keys of a key file: while one takes the place of another, both are there. */
export interface MasterKeys {
  current: Uint8Array
  /** The second line: the key that is on its way out. */
  previous: Uint8Array | null
}

/**
 * Reads the key file: a line of 32 bytes as base64 or hex, and during a rotation a second one with the key before it.
 * @param make whether a missing file is made, which only the default place allows
 * @throws BadSetting when the file is missing, readable by others, or holds no key
 */
export function loadMasterKey(file: string, make: boolean): { key: Uint8Array; previous: Uint8Array | null; made: boolean } {
  if (!existsSync(file)) {
    if (!make)
      throw new BadSetting(
        `BAILIWICK_MASTER_KEY_FILE: there is no file ${file}. Make one with: head -c 32 /dev/urandom | base64 > FILE; chmod 600 FILE`,
      )
    const key = randomBytes(32)
    if (writeNew(file, `${key.toString('base64')}\n`)) return { key, previous: null, made: true }
  }
  if ((statSync(file).mode & 0o077) !== 0)
    throw new BadSetting(`The master key file ${file} may be read by others; run: chmod 600 ${file}`)
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  const key = keyOf(lines[0]!)
  if (!key) throw new BadSetting(`The master key file ${file} does not hold 32 bytes in base64 or hex on its first line.`)
  if (lines.length > 2) throw new BadSetting(`The master key file ${file} has ${lines.length} lines; it may have two at most.`)
  const previous = lines[1] === undefined ? null : keyOf(lines[1])
  if (lines[1] !== undefined && !previous)
    throw new BadSetting(`The master key file ${file} does not hold 32 bytes in base64 or hex on its second line.`)
  return { key, previous, made: false }
}

/**
 * Puts other keys into the key file: at any moment it holds the keys before or these, whole and on the disk. Owner and mode stay.
 * @throws the system's error when the folder cannot be written, or the file is a mount of its own
 */
export function replaceMasterKeys(file: string, { current, previous }: MasterKeys): void {
  // Where the name is a link, the file it leads to is replaced.
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
 * Puts a file in place whole and on the disk, or leaves the one that is there: of several processes that start at once one makes the key,
 * and none reads half of it.
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
