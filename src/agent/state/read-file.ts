import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

const maxBytes = 1024 * 1024

/**
 * Reads a file that another user may have put there, or null if there is none. Neither follows a link nor waits for the writer of a pipe.
 * @throws Error if it can’t be read, is not a regular file, or is larger than `limit` bytes
 */
export function readRegularFile(path: string, limit: number = maxBytes): Buffer | null {
  let file: number
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) throw new Error(`${path} is not a regular file`)
    if (stat.size > limit) throw new Error(`${path} is larger than ${limit} bytes`)
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}
