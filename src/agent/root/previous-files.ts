import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sha256Hex } from '../../core/sha256'
import { readRegularFile } from '../state/read-file'
import { syncFolder, writeFile } from '../state/write-file'
import type { RootFolders } from './folders'
import { refuseUnsafe } from './safe-path'

interface Stored {
  path: string
  /** In base64; null if there was no file. */
  content: string | null
  mode: number
  owner: { uid: number; gid: number }
  /** SHA-256 of the file that replaces it. */
  replacedBy: string
}

interface Stock {
  files: Stored[]
  /** The unit that used the files, if it was running. */
  running: string | null
}

/** The folder of all profiles, which only root can read. */
export const profilesFolder = ({ state }: Pick<RootFolders, 'state'>): string => join(state, 'certificates')
const fileName = 'previous.json'

/** Profiles with which an installation was interrupted, by a power failure for example. */
export function interruptedProfiles(folders: Pick<RootFolders, 'state'>): string[] {
  const folder = profilesFolder(folders)
  return existsSync(folder) ? readdirSync(folder).filter(name => existsSync(join(folder, name, fileName))) : []
}

/** The files before a certificate was installed, in a file that only root can read, until the service has loaded the certificate. */
export class PreviousFiles {
  private readonly path: string

  /** @param folder of the profile */
  constructor(folder: string) {
    this.path = join(folder, fileName)
  }

  get exist(): boolean {
    return existsSync(this.path)
  }

  /** The unit that was running with them; null if it wasn’t. */
  get running(): string | null {
    return this.read().running
  }

  /** @param running the unit that uses them, if it is running */
  store(files: readonly { path: string; content: string }[], running: string | null): void {
    const stored = files.map(({ path, content: next }): Stored => {
      const replacedBy = sha256Hex(next)
      const content = readRegularFile(path)
      if (content === null) return { path, content: null, mode: 0, owner: { uid: 0, gid: 0 }, replacedBy }
      const { mode, uid, gid } = statSync(path)
      return { path, content: content.toString('base64'), mode: mode & 0o7777, owner: { uid, gid }, replacedBy }
    })
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 })
    writeFile(this.path, JSON.stringify({ files: stored, running } satisfies Stock), { durable: true })
  }

  /**
   * Restores all of them or none: something else may have changed the files or the profile meanwhile, and a certificate needs its key.
   * @param allowed paths of the profile
   * @returns why they were not restored, as a sentence
   * @throws Error if they can’t be written; they are still stored then
   */
  restore(allowed: readonly string[]): string | null {
    const { files } = this.read()
    const reason = files.map(file => whyNot(file, allowed)).find(one => one !== null) ?? null
    if (reason === null)
      for (const { path, content, mode, owner } of files)
        if (content === null) remove(path)
        else writeFile(path, Buffer.from(content, 'base64'), { mode, owner, durable: true })
    this.forget()
    return reason
  }

  forget(): void {
    remove(this.path)
  }

  private read(): Stock {
    return JSON.parse(readFileSync(this.path, 'utf8')) as Stock
  }
}

function remove(path: string): void {
  rmSync(path, { force: true })
  syncFolder(dirname(path))
}

/** Why a file is not restored; null if it is. */
function whyNot({ path, content, replacedBy }: Stored, allowed: readonly string[]): string | null {
  if (!allowed.includes(path)) return `${path} is not in the profile anymore.`
  try {
    refuseUnsafe(path)
    const current = readRegularFile(path)
    if (content === null ? current === null : current?.equals(Buffer.from(content, 'base64'))) return null
    return current !== null && sha256Hex(current) === replacedBy ? null : `Something else has changed ${path}.`
  } catch (error) {
    return (error as Error).message
  }
}
