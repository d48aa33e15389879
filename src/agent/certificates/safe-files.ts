import { closeSync, constants, fstatSync, openSync, opendirSync, readlinkSync, readSync, realpathSync, lstatSync } from 'node:fs'
import { dirname, sep } from 'node:path'
import type { Root } from '../sample/root'

/** A file that was read. */
export interface ReadFile {
  bytes: Buffer
  /** Where it is, without symbolic links. */
  realPath: string
  modifiedAt: number
  mode: number
  uid: number
}

/** Why a file or folder could not be read, as a sentence. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

const maxBytes = 1024 * 1024
/** Of a folder, at most this many names are read. */
const maxNames = 2000

/** Where certificates usually are. Symbolic links may lead there from everywhere. */
const certificateFolders = ['etc/letsencrypt', 'etc/ssl', 'etc/pki', 'usr/local/etc/letsencrypt']

/**
 * Reads a file of at most 1 MiB. Nothing else is opened: a pipe would wait for a writer, and a device may do anything.
 * @param path without a slash at the start
 * @param folder symbolic links may lead to files in this folder, or to a folder for certificates
 * @returns null if there is no such file, or it is a folder
 * @throws Unreadable
 */
export function readCertificateFile(root: Root, path: string, folder: string = dirname(path)): ReadFile | null {
  let descriptor: number | undefined
  try {
    const real = realpathSync(root.path(path))
    checkPlace(root, real, folder)
    const kind = lstatSync(real)
    if (kind.isDirectory()) return null
    if (!kind.isFile()) throw new Unreadable('It is not a regular file.')
    descriptor = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    // Someone can have replaced a folder by a link in the meantime.
    checkPlace(root, readlinkSync(`/proc/self/fd/${descriptor}`), folder)
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) throw new Unreadable('It is not a regular file.')
    if (stat.size > maxBytes) throw new Unreadable('It is larger than 1 MiB.')
    const bytes = Buffer.alloc(stat.size)
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(descriptor, bytes, length, bytes.length - length, null)
    return {
      bytes: bytes.subarray(0, length),
      realPath: real,
      modifiedAt: storableTime(stat.mtimeMs),
      mode: stat.mode & 0o7777,
      uid: stat.uid,
    }
  } catch (error) {
    if (error instanceof Unreadable) throw error
    return failed(error)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** The nearest time that the hub stores (ms UTC). Anyone can set any time for a file. */
export const storableTime = (ms: number): number => Math.min(8.64e15, Math.max(0, Math.round(ms)))

function checkPlace(root: Root, real: string, folder: string): void {
  const isInside = [folder, ...certificateFolders].some(one => {
    try {
      return real.startsWith(`${realpathSync(root.path(one)).replace(/\/$/, '')}${sep}`)
    } catch {
      return false
    }
  })
  if (!isInside) throw new Unreadable('It is a link to a file outside of its folder, which is not followed.')
}

/** Null if something does not exist. @throws Unreadable */
function failed(error: unknown): null {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') return null
  if (code === 'EACCES' || code === 'EPERM') throw new Unreadable('The agent is not allowed to read it.')
  throw new Unreadable(`It can’t be read: ${code ?? message}.`)
}

/**
 * The paths that match a pattern in which `*` stands for any characters of a name except a dot at its start.
 * @param pattern without a slash at the start
 * @param unreadable is called for each folder that can’t be listed
 */
export function matchingPaths(root: Root, pattern: string, unreadable: (path: string, reason: string) => void): string[] {
  let found = ['']
  for (const part of pattern.split('/')) {
    const next: string[] = []
    for (const folder of found) {
      if (next.length > maxNames) break
      if (part.includes('*'))
        next.push(
          ...namesIn(root, folder, unreadable)
            .filter(matcherOf(part))
            .map(name => join(folder, name)),
        )
      else next.push(join(folder, part))
    }
    found = next
  }
  return found.slice(0, maxNames)
}

const join = (folder: string, name: string) => (folder === '' ? name : `${folder}/${name}`)

/** Literal texts in order, without a regular expression, which could take exponential time. */
function matcherOf(pattern: string): (name: string) => boolean {
  const parts = pattern.split('*')
  const [first, last] = [parts[0]!, parts.at(-1)!]
  return name => {
    if ((name.startsWith('.') && !first.startsWith('.')) || !name.startsWith(first)) return false
    let at = first.length
    for (const part of parts.slice(1, -1)) {
      const place = name.indexOf(part, at)
      if (place < 0) return false
      at = place + part.length
    }
    return name.endsWith(last) && name.length - last.length >= at
  }
}

function namesIn(root: Root, path: string, unreadable: (path: string, reason: string) => void): string[] {
  try {
    const folder = opendirSync(root.path(path))
    try {
      const names: string[] = []
      for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
        if (names.length === maxNames) {
          unreadable(path, `It has more than ${maxNames} files. Only the first ones are read.`)
          break
        }
        names.push(entry.name)
      }
      return names.sort()
    } finally {
      folder.closeSync()
    }
  } catch (error) {
    try {
      failed(error)
    } catch (reason) {
      unreadable(path, (reason as Error).message)
    }
    return []
  }
}
