import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
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
    if (!make) throw new BadSetting(`BAILIWICK_MASTER_KEY_FILE: there is no file ${file}. Make one with: head -c 32 /dev/urandom | base64 > FILE; chmod 600 FILE`)
    const key = randomBytes(32)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
    return { key, made: true }
  }
  if ((statSync(file).mode & 0o077) !== 0) throw new BadSetting(`The master key file ${file} may be read by others; run: chmod 600 ${file}`)
  const line = readFileSync(file, 'utf8').split('\n')[0]!.trim()
  const key = /^[0-9a-fA-F]{64}$/.test(line) ? Buffer.from(line, 'hex') : Buffer.from(line, 'base64')
  if (key.length !== 32) throw new BadSetting(`The master key file ${file} does not hold 32 bytes in base64 or hex on its first line.`)
  return { key, made: false }
}
