import { statfs } from 'node:fs/promises'

/** With less free space than this (bytes), writes may fail: the write-ahead log of SQLite grows by this much. */
export const minFreeBytes = 4 * 1024 * 1024

/** Free bytes on the file system of a folder. @throws the system error if the folder doesn't exist */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** Formats a number of bytes, such as `3 MiB`. */
export const formatMebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`
