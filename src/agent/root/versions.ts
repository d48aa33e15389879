import { readlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isVersion } from '../../wire/agent-version'
import { replaceLink } from '../state/write-file'
import type { RootFolders } from './folders'

/** The versions of the program on this server: a folder for each, and a link to the current one. */

type Programs = RootFolders['programs']

/** Name of the program in the folder of its version. */
export const programName = 'bailiwick-agent'
/** Link to the folder of the version before an update. Whatever the new one does, this one can undo the update. */
export const previousName = 'previous'

export const versionFolder = ({ folder }: Programs, version: string): string => join(folder, version)

/** The version that the link points to; null if it points elsewhere, or is none. */
export function currentVersion({ folder, link }: Programs): string | null {
  try {
    const target = readlinkSync(link)
    const version = basename(dirname(target))
    return isVersion(version) && target === join(folder, version, programName) ? version : null
  } catch {
    return null
  }
}

/** Lets the link point to a version. It does so after a power failure, too. */
export const useVersion = (programs: Programs, version: string): void =>
  replaceLink(programs.link, join(versionFolder(programs, version), programName))
