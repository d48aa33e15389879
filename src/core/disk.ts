import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'

/** With less free space than this (bytes), writes may fail: the write-ahead log of SQLite grows by this much. */
export const minFreeBytes = 4 * 1024 * 1024

/** With less free space than this (bytes), the disk fills up soon: about one day of growth of a busy hub. */
export const lowFreeBytes = 256 * 1024 * 1024

/** Size and free space of the file system of a folder, in bytes. If it doesn't exist, of the closest parent that does. */
export async function diskSpace(folder: string): Promise<{ folder: string; free: number; total: number }> {
  if (!existsSync(folder) && dirname(folder) !== folder) return await diskSpace(dirname(folder))
  const { bavail, blocks, bsize } = await statfs(folder)
  return { folder, free: bavail * bsize, total: blocks * bsize }
}

/** Free bytes on the file system of a folder. */
export async function freeBytes(folder: string): Promise<number> {
  return (await diskSpace(folder)).free
}

/** Formats a number of bytes, such as `3 MiB`. */
export const formatMebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`
