import { chownSync, closeSync, fchmodSync, fsyncSync, openSync, renameSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Replaces a file at once: after a crash, it has its old content or the new one. It belongs to the owner of its folder, also if root
 * writes it.
 * @param mode permissions, by default only for the owner
 * @param durable whether it must survive a power cut
 */
export function writeFile(path: string, content: string | Uint8Array, { mode = 0o600, durable = false } = {}): void {
  const temporary = `${path}.new`
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const file = openSync(temporary, 'w', 0o600)
  try {
    // Whatever the file mode creation mask is.
    fchmodSync(file, mode)
    for (let at = 0; at < bytes.byteLength;) at += writeSync(file, bytes, at)
    if (durable) fsyncSync(file)
  } finally {
    closeSync(file)
  }
  if (process.getuid?.() === 0) {
    const { uid, gid } = statSync(dirname(path))
    chownSync(temporary, uid, gid)
  }
  renameSync(temporary, path)
}
