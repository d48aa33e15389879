import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../core/clock'
import type { Config } from '../../core/config'
import { readManifest } from './archive'
import { BackupFailed } from './errors'
import type { Manifest } from './manifest'

/** Where backups are stored by default. */
export const backupFolder = (config: Config): string => join(config.data, 'backups')

/** A backup in a folder. */
interface FoundBackup {
  file: string
  /** The first part of the instance id. */
  instance: string
  /** As in the file name; sorts by time. */
  time: string
  bytes: number
  /** Null if it can't be read; then `problem` is set. */
  manifest: Manifest | null
  problem: string | null
}

const pattern = /^bailiwick-([0-9a-f]{8})-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)\.tar\.zst$/

/** Name of the file of a backup. */
export const backupName = (instanceId: string, createdAt: string): string =>
  `bailiwick-${instanceId.slice(0, 8)}-${createdAt.replaceAll(/[:.]/g, '-')}.tar.zst`

/** The backups in a folder, oldest first. @throws BackupFailed if the folder can't be read */
export async function listBackups(folder: string): Promise<FoundBackup[]> {
  const found: FoundBackup[] = []
  for (const [name, instance, time] of namesIn(folder)) {
    const file = join(folder, name)
    try {
      found.push({ file, instance, time, bytes: statSync(file).size, manifest: await readManifest(file), problem: null })
    } catch (error) {
      found.push({ file, instance, time, bytes: 0, manifest: null, problem: (error as Error).message })
    }
  }
  return found
}

/** The newest backup in a folder. @throws BackupFailed if there is none, or if it is not clear which one is meant */
export function latestBackup(folder: string): string {
  const found = namesIn(folder)
  const instances = [...new Set(found.map(([, instance]) => instance))]
  if (instances.length > 1)
    throw new BackupFailed(
      `${folder} contains backups of ${instances.length} installations (${instances.join(', ')}). Name the file to restore.`,
    )
  const last = found.at(-1)
  if (!last) throw new BackupFailed(`${folder} contains no backups. Use --from to choose another folder, or name a file.`)
  return join(folder, last[0])
}

function namesIn(folder: string): [name: string, instance: string, time: string][] {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    throw new BackupFailed(`${folder} can't be read: ${message}`)
  }
  return names
    .flatMap((name): [string, string, string][] => {
      const match = pattern.exec(name)
      return match ? [[name, match[1]!, match[2]!]] : []
    })
    .sort(([, , a], [, , b]) => (a < b ? -1 : 1))
}

const workPrefix = '.bailiwick-backup-'
const abandonedMs = 24 * 3_600_000

/** Creates a folder for temporary files, on the same file system as the backup. Deletes what killed processes left behind. */
export function createWorkFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(folder).filter(one => one.startsWith(workPrefix))) {
    const left = join(folder, name)
    const since = statSync(left, { throwIfNoEntry: false })?.mtimeMs ?? Infinity
    if (systemClock.now() - since > abandonedMs) rmSync(left, { recursive: true, force: true })
  }
  const work = join(folder, `${workPrefix}${crypto.randomUUID()}`)
  mkdirSync(work, { mode: 0o700 })
  return work
}
