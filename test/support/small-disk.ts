import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const undo: (() => void)[] = []

/** Removes all small disks. */
export function unmountDisks(): void {
  for (const one of undo.splice(0).reverse()) one()
}

/** Mounts a small disk in memory. Returns null if this process may not mount. */
export function smallDisk(mebibytes: number): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-small-disk-'))
  const { exitCode } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder])
  if (exitCode !== 0) {
    rmdirSync(folder)
    return null
  }
  undo.push(() => {
    // Lazily, because connections to a database on it may still be open.
    Bun.spawnSync(['umount', '-l', folder])
    rmdirSync(folder)
  })
  return folder
}
/** Whether this process may mount disks. */
export const canMount: boolean = (() => {
  const folder = smallDisk(1)
  unmountDisks()
  return folder !== null
})()
