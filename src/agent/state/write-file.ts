import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { randomBase62 } from '../../core/random'

/**
 * Replaces a file at once: after a crash, it has its old content or the new one.
 * @param mode permissions, by default only for the owner
 * @param durable whether it must survive a power failure
 * @param owner if root writes it; by default the owner of its folder
 */
export function writeFile(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, durable = false, owner }: { mode?: number; durable?: boolean; owner?: { uid: number; gid: number } } = {},
): void {
  const folder = dirname(path)
  const temporary = `${path}.${randomBase62(12)}.new`
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  // The owner of the folder may have put a link there, so that root changes another file: an existing one is never opened.
  const file = openSync(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600)
  try {
    try {
      // Whatever the file mode creation mask is.
      fchmodSync(file, mode)
      if (process.getuid?.() === 0) {
        const { uid, gid } = owner ?? statSync(folder)
        fchownSync(file, uid, gid)
      }
      for (let at = 0; at < bytes.byteLength;) at += writeSync(file, bytes, at)
      if (durable) fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  if (durable) syncFolder(folder)
}

/** Lets a link point elsewhere, or creates it. After a power failure, it has the old target or the new one; the new one once this returns. */
export function replaceLink(path: string, target: string): void {
  const temporary = `${path}.new`
  rmSync(temporary, { force: true })
  symlinkSync(target, temporary)
  renameSync(temporary, path)
  syncFolder(dirname(path))
}

/** Lets new names in a folder survive a power failure. */
export function syncFolder(folder: string): void {
  const opened = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}
