import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { AgentCommand } from '../../wire/agent-command'
import { isNewerVersion } from '../../wire/agent-version'
import { replaceLink, syncFolder } from '../state/write-file'
import type { RootFolders } from './folders'
import type { System } from './system'
import { markBegun, readUpdate, updateFile, writeUpdate, type Update } from './update-file'
import { currentVersion, previousName, programName, versionFolder } from './versions'

type UpdateCommand = Extract<AgentCommand, { name: 'update' }>

/** The unit that restarts the agent, and undoes the update unless the new version reports. */
const unit = 'bailiwick-agent-update.service'
const bufferBytes = 1024 * 1024

/**
 * Installs the version that the agent has downloaded, in addition to the current one, and lets a unit of systemd restart the agent with it. The
 * command was verified, and contains the digest, so it doesn’t matter what the agent has downloaded. If this fails, nothing has changed.
 * @returns why it failed; null if it didn’t
 */
export async function prepareUpdate(
  system: System,
  folders: RootFolders,
  { id, params: { version, sha256, size } }: UpdateCommand,
): Promise<string | null> {
  const { programs } = folders
  const from = currentVersion(programs)
  if (from === null) return 'The agent was not installed with the command of the hub. To update it, run this command again.'
  if (!isNewerVersion(version, from)) return `Version ${version} is not newer than ${from}, which is installed.`
  const last = readUpdate(folders)
  if (last?.state === 'checking' || last?.pending === 'restart') {
    // If its check was killed, it continues.
    await system.run(['systemctl', 'start', '--no-block', unit])
    return `The update to version ${last.version} has not ended.`
  }
  // Otherwise, it could delete the folder of the new version.
  if (last?.pending) await system.run(['systemctl', 'stop', unit])

  const folder = versionFolder(programs, version)
  const program = join(folder, programName)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 })
    const copied = copy(folders.download, `${program}.new`, size)
    if (copied !== sha256) throw new Error('The download is damaged: its SHA-256 differs from the one that the hub has signed.')
    const { isSuccess, output } = await system.run([`${program}.new`, '--version'], { withoutJit: true })
    if (!isSuccess || output !== version)
      throw new Error(`Version ${version} doesn’t run on this server: ${output.split('\n')[0]!.slice(0, 200) || 'no output'}.`)
    renameSync(`${program}.new`, program)
    syncFolder(folder)
    syncFolder(programs.folder)
    replaceLink(join(programs.folder, previousName), versionFolder(programs, from))
    const update: Update = { command_id: id, from, version, state: 'checking', detail: null }
    markBegun(folders, update)
    // From now on, the unit undoes the update when the server starts.
    writeUpdate(folders, update)
    // A check that is just ending would not be started again.
    const started = await system.run(['systemctl', 'restart', '--no-block', unit])
    if (started.isSuccess) return null
    rmSync(updateFile(folders), { force: true })
    throw new Error(`${unit} could not be started: ${started.output}`)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOSPC' ? `The disk is full, so version ${version} can’t be stored in ${folder}.` : message
  }
}

/** Copies a file that the agent can change in the meantime. It is on disk when this returns. @returns the SHA-256 of the copy */
function copy(from: string, to: string, size: number): string {
  // Neither follows links nor waits for the writer of a pipe.
  const source = openSync(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(source)
    if (!stat.isFile() || stat.size !== size) throw new Error('The download is incomplete.')
    rmSync(to, { force: true })
    const copied = openSync(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
    try {
      const hash = createHash('sha256')
      const buffer = Buffer.alloc(bufferBytes)
      for (let left = size; left > 0;) {
        const count = readSync(source, buffer, 0, Math.min(bufferBytes, left), null)
        if (count === 0) throw new Error('The download is incomplete.')
        hash.update(buffer.subarray(0, count))
        for (let at = 0; at < count;) at += writeSync(copied, buffer, at, count - at)
        left -= count
      }
      fchmodSync(copied, 0o755)
      fsyncSync(copied)
      return hash.digest('hex')
    } finally {
      closeSync(copied)
    }
  } finally {
    closeSync(source)
  }
}
