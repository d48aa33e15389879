import { statfs } from 'node:fs/promises'

/** With less than this free (bytes), writes fail now or in a moment: SQLite lets its write-ahead log grow by as much. */
export const leastFree = 4 * 1024 * 1024

/** Bytes that this process may still write where a folder is. @throws the system's error when there is no such folder */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** A number of bytes for people, such as `3 MiB`. */
export const inMebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`
