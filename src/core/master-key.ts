import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { randomBytes } from 'node:crypto'
import { BadSetting } from './config'

/**
 * Reads the master key: 32 bytes as base64 or hex on the first line of its file.
 * @param make whether a missing file is made, which only the default place allows
 * @throws BadSetting when the file is missing, readable by others, or holds no key
 */
export function loadMasterKey(file: string, make: boolean): { key: Uint8Array; made: boolean } {
  if (!existsSync(file)) {
    if (!make)
      throw new BadSetting(
        `BAILIWICK_MASTER_KEY_FILE: there is no file ${file}. Make one with: head -c 32 /dev/urandom | base64 > FILE; chmod 600 FILE`,
      )
    const key = randomBytes(32)
    if (writeNew(file, `${key.toString('base64')}\n`)) return { key, made: true }
  }
  if ((statSync(file).mode & 0o077) !== 0)
    throw new BadSetting(`The master key file ${file} may be read by others; run: chmod 600 ${file}`)
  const line = readFileSync(file, 'utf8').split('\n')[0]!.trim()
  const key = /^[0-9a-fA-F]{64}$/.test(line) ? Buffer.from(line, 'hex') : Buffer.from(line, 'base64')
  if (key.length !== 32)
    throw new BadSetting(`The master key file ${file} does not hold 32 bytes in base64 or hex on its first line.`)
  return { key, made: false }
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
