import { statfs } from 'node:fs/promises'

/** With less free space than this (bytes), writes may fail: the write-ahead log of SQLite grows by this much. */
export const minFreeBytes = 4 * 1024 * 1024

/** With less free space than this (bytes), the disk fills up soon: about one day of growth of a busy hub. */
export const lowFreeBytes = 256 * 1024 * 1024

/** Size and free space of the file system of a folder, in bytes. @throws the system error if the folder doesn't exist */
export async function diskSpace(folder: string): Promise<{ free: number; total: number }> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { free: bavail * bsize, total: blocks * bsize }
}

/** Free bytes on the file system of a folder. @throws the system error if the folder doesn't exist */
export async function freeBytes(folder: string): Promise<number> {
  return (await diskSpace(folder)).free
}

/** Formats a number of bytes, such as `3 MiB`. */
export const formatMebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`
