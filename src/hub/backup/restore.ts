import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { instant, systemClock } from '../../core/clock'
import { masterKeyFile, sqliteFile, type Config } from '../../core/config'
import { foldSqliteLog } from '../../core/db/backup/copy-sqlite'
import { NotEmpty, type LoadTarget } from '../../core/db/backup/load'
import { folderProblem, isRestoreInterrupted, restoringFolder } from '../../core/installation'
import { lastBackupFact } from '../../core/last-backup'
import { loadMasterKey } from '../../core/master-key'
import { keyFingerprint } from '../../core/secrets'
import { checkpointFile } from '../../features/audit/checkpoint-file'
import { lockFolder, lockFiles } from '../folder-lock'
import { openHub } from '../run'
import { readManifest, syncToDisk } from './archive'
import { BackupFailed, explainFullDisk } from './errors'
import { restoredFact, type RestoredFact } from './finish-restore'
import { checkVersion, loadIntoFolder, loadIntoPostgres } from './load'
import { checkpointsName, databaseName, lastBackupOf, seriesName, type Manifest } from './manifest'
import { Progress } from './progress'

interface RestoreOptions {
  file: string
  /** Whether waiting webhook deliveries are sent, as if the hub had only been stopped. */
  releaseDeliveries: boolean
  report(line: string): void
}

/**
 * Restores a backup into an empty data folder, or an empty PostgreSQL schema. If it is interrupted, the hub refuses to use the
 * folder, and the schema stays empty; it can then be repeated.
 * @throws BackupFailed, InvalidSetting
 */
export async function restoreBackup(config: Config, options: RestoreOptions): Promise<Manifest> {
  const { file } = options
  const manifest = await readManifest(file)
  checkVersion(file, manifest)
  if (config.databaseUrl && manifest.form === 'physical')
    throw new BackupFailed(
      `${file} is a copy of a SQLite file, which can't be restored into PostgreSQL. Make a backup with bailiwick backup --logical.`,
    )
  checkMasterKey(config, file, manifest)
  const fact: RestoredFact = {
    file: basename(file),
    backup_at: manifest.created_at,
    restored_at: instant(systemClock.now()),
    release_deliveries: options.releaseDeliveries,
  }
  const progress = new Progress(options.report)
  // The data doesn’t contain this backup itself, which was complete only later.
  const backup = lastBackupOf(manifest, statSync(file).size)
  const note = async (target: LoadTarget) => {
    await target.putFact(restoredFact, JSON.stringify(fact))
    await target.putFact(lastBackupFact, JSON.stringify(backup))
  }
  if (config.databaseUrl) await restorePostgres(config, options, manifest, progress, note)
  else await restoreFolder(config, file, manifest, progress, note)
  return manifest
}

/** @throws BackupFailed if the data could not be decrypted */
function checkMasterKey(config: Config, file: string, manifest: Manifest): void {
  const path = masterKeyFile(config)
  const needed = `${basename(file)} requires the master key with the fingerprint ${manifest.master_keys.join(' and ')}`
  if (!existsSync(path))
    throw new BackupFailed(`${needed}, but ${path} does not exist. Copy your key file there, with mode 0600, and try again.`)
  const { key, previous } = loadMasterKey(path, false)
  const available = [key, ...(previous ? [previous] : [])].map(keyFingerprint)
  if (!manifest.master_keys.every(id => available.includes(id)))
    throw new BackupFailed(`${needed}, but ${path} contains ${available.join(' and ')}. Replace it with the correct key file.`)
}

type Note = (target: LoadTarget) => Promise<void>

async function restoreFolder(config: Config, file: string, manifest: Manifest, progress: Progress, note: Note): Promise<void> {
  const { data } = config
  const problem = isRestoreInterrupted(data) ? null : folderProblem(data)
  if (problem) throw new BackupFailed(`--data: ${problem}`)
  const unlock = lockFolder(data)
  try {
    clearInterruptedRestore(data)
    refuseData(config)
    const staging = join(data, restoringFolder)
    mkdirSync(staging, { mode: 0o700 })
    try {
      await loadIntoFolder(file, manifest, staging, progress, note)
      // Migrates the database, and adapts it to the time that has passed.
      const hub = await openHub({ ...config, data: staging, masterKeyFile: masterKeyFile(config) })
      await hub.store.close()
      foldSqliteLog(join(staging, databaseName))
      // The database last: until then, the restore counts as interrupted.
      for (const name of [checkpointsName, seriesName, databaseName]) {
        const from = join(staging, name)
        if (!existsSync(from)) continue
        if (name !== checkpointsName) chmodSync(from, 0o600)
        await syncToDisk(from)
        if (name === databaseName) await syncToDisk(data)
        renameSync(from, join(data, name))
      }
      await syncToDisk(data)
    } catch (error) {
      clearInterruptedRestore(data)
      throw explainFullDisk(error, data, 'Free up space, or choose another folder with --data.')
    }
    rmSync(staging, { recursive: true, force: true })
  } finally {
    unlock()
  }
}

/** Removes what a restore left behind before it put the database into place. */
function clearInterruptedRestore(data: string): void {
  if (!isRestoreInterrupted(data)) return
  for (const name of [checkpointsName, seriesName]) rmSync(join(data, name), { force: true })
  rmSync(join(data, restoringFolder), { recursive: true, force: true })
}

/** @throws BackupFailed if the folder contains anything else than a master key and backups */
function refuseData(config: Config): void {
  const { data } = config
  if (existsSync(sqliteFile(config)))
    throw new BackupFailed(
      `--data: ${data} already contains an installation. Choose an empty folder, or move the files of the installation elsewhere.`,
    )
  const key = masterKeyFile(config)
  const expected = new Set(['backups', 'lost+found', ...lockFiles])
  if (dirname(key) === data) for (const name of [basename(key), `${basename(key)}.lock`]) expected.add(name)
  const others = readdirSync(data).filter(name => !expected.has(name))
  if (others.length > 0)
    throw new BackupFailed(
      `--data: ${data} is not empty: it contains ${others.slice(0, 3).join(', ')}${others.length > 3 ? ', …' : ''}. Choose an empty folder.`,
    )
}

async function restorePostgres(
  config: Config,
  { file, report }: RestoreOptions,
  manifest: Manifest,
  progress: Progress,
  note: Note,
): Promise<void> {
  let checkpoints = ''
  try {
    await loadIntoPostgres(file, manifest, config.databaseUrl!, progress, async (target, folder) => {
      await note(target)
      checkpoints = readFileSync(join(folder, checkpointsName), 'utf8')
    })
  } catch (error) {
    if (error instanceof NotEmpty)
      throw new BackupFailed(`BAILIWICK_DATABASE_URL: the database is not empty. ${error.message} Create a new database.`)
    throw error
  }
  placeCheckpoints(config, checkpoints, report)
  // If this fails, the next start of a hub does it.
  const hub = await openHub(config)
  await hub.store.close()
}

/** Replaces the checkpoints of the previous data, which would make the restored audit log look truncated. */
function placeCheckpoints(config: Config, checkpoints: string, report: (line: string) => void): void {
  const file = checkpointFile(config)
  if (existsSync(file)) {
    const aside = `${file}.before-restore-${instant(systemClock.now()).replaceAll(/[:.]/g, '-')}`
    renameSync(file, aside)
    report(`Moved the audit checkpoints of the previous data to ${aside}.`)
  }
  mkdirSync(config.data, { recursive: true })
  writeFileSync(file, checkpoints, { mode: 0o644 })
}
