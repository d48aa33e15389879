import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Only root may change the folders of a file, because others could let root write elsewhere. As in `StrictModes` of sshd, but folders such
 * as /tmp are accepted, in which users can’t replace files of others. None of the folders may be a link, which someone else may control.
 * @throws Error with a sentence
 */
export function refuseUnsafe(path: string): void {
  const folderOfFile = dirname(path)
  if (!existsSync(folderOfFile)) throw new Error(`The folder ${folderOfFile} does not exist.`)
  const real = realpathSync(folderOfFile)
  if (real !== folderOfFile) throw new Error(`The folder ${folderOfFile} must not contain links. Without them, it is ${real}.`)
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new Error(`${path} is not a regular file.`)
  for (let folder = folderOfFile; ; folder = dirname(folder)) {
    const { uid, mode } = statSync(folder)
    const isSafe = (uid === 0 || uid === process.getuid?.()) && ((mode & 0o022) === 0 || (mode & 0o1000) !== 0)
    if (!isSafe) throw new Error(`${folder} must belong to root, and other users must not be able to write to it.`)
    if (folder === '/') return
  }
}
