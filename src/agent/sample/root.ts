import { accessSync, closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The file system of the server: `/`, or the folder where a container finds it, such as `/host`. Paths have no slash at the start. */
export class Root {
  /** Whether it is the file system of this program. */
  readonly isOwn: boolean
  /** The network of the server. In a container, `self` has another one than the first process of the host. */
  readonly network: string

  constructor(readonly folder = '/') {
    this.isOwn = folder === '/'
    this.network = this.isOwn ? 'proc/self/net' : 'proc/1/net'
  }

  path = (path: string): string => join(this.folder, path)

  /** The text of a file; null if it can’t be read. */
  text(path: string): string | null {
    try {
      return readFileSync(this.path(path), 'utf8')
    } catch {
      return null
    }
  }

  /** The text of a file with one line, without the line break; null if it can’t be read or is empty. */
  line = (path: string): string | null => this.text(path)?.trim() || null

  /** A file that contains only a number; null if it doesn’t. */
  number(path: string): number | null {
    const text = this.line(path)
    return text !== null && Number.isFinite(Number(text)) ? Number(text) : null
  }

  /** The bytes at the start of a file, at most `limit`; null if it can’t be read. For files that may be long. */
  start(path: string, limit: number): Buffer | null {
    try {
      const file = openSync(this.path(path), 'r')
      try {
        const bytes = Buffer.allocUnsafe(limit)
        let length = 0
        for (let read = -1; read !== 0 && length < limit; length += read)
          read = readSync(file, bytes, length, limit - length, null)
        return bytes.subarray(0, length)
      } finally {
        closeSync(file)
      }
    } catch {
      return null
    }
  }

  /** Names of the files in a folder, in no order; empty if it can’t be read. */
  names(path: string): string[] {
    try {
      return readdirSync(this.path(path))
    } catch {
      return []
    }
  }

  /** Where a symbolic link points; null if it is none. */
  link(path: string): string | null {
    try {
      return readlinkSync(this.path(path))
    } catch {
      return null
    }
  }

  /** When a file or folder was last changed (ms UTC); null if there is none. */
  changedAt(path: string): number | null {
    return statSync(this.path(path), { throwIfNoEntry: false })?.mtimeMs ?? null
  }

  /** The ID of the user to whom a file belongs; null if there is none. */
  owner(path: string): number | null {
    return statSync(this.path(path), { throwIfNoEntry: false })?.uid ?? null
  }

  exists = (path: string): boolean => existsSync(this.path(path))

  /** Whether a file may exist: nobody knows what is in a folder that this user can’t open. */
  mayExist(path: string): boolean {
    try {
      accessSync(this.path(path))
      return true
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EACCES'
    }
  }
}
