import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { instant, systemClock } from '../../core/clock'
import { sqliteFile, type Config } from '../../core/config'
import { copySqlite } from '../../core/db/backup/copy-sqlite'
import { exportSeries, seriesVersion } from '../../core/db/backup/series-copy'
import { putFact } from '../../core/db/put-fact'
import { schemaState, withReadOnlyDatabase, type Rows } from '../../core/db/schema-state'
import { lastBackupFact, type LastBackup } from '../../core/last-backup'
import { version } from '../../core/version'
import { checkpointFile } from '../../features/audit/checkpoint-file'
import { seriesKinds } from '../../features/series-kinds'
import { syncToDisk, writeArchive } from './archive'
import { readFacts, readTable, tablesOf, type Facts } from './contents'
import { BackupFailed, explainFullDisk } from './errors'
import { backupName, createWorkFolder } from './folder'
import { withTemporaryFolder } from './temporary'
import { backupFormat, checkpointsName, databaseName, lastBackupOf, seriesName, tableFile, type Manifest } from './manifest'
import { Progress } from './progress'

interface BackupOptions {
  folder: string
  /** Rows instead of the SQLite file. Always the case on PostgreSQL. */
  logical: boolean
  withSeries: boolean
  /** Receives lines about the progress of long work. */
  report(line: string): void
}

/** A finished backup. */
interface CreatedBackup {
  file: string
  bytes: number
  manifest: Manifest
}

/**
 * Backs up the database of an installation to a new file, while hubs are running. The file appears under its name when it is
 * complete and on disk.
 * @throws BackupFailed
 */
export async function createBackup(config: Config, options: BackupOptions): Promise<CreatedBackup> {
  await checkSchema(config)
  const { folder } = options
  try {
    return await withTemporaryFolder(
      () => createWorkFolder(folder),
      work => backUp(config, work, options),
    )
  } catch (error) {
    throw unwritable(folder, error)
  }
}

async function checkSchema(config: Config): Promise<void> {
  const { applied, incompatible } = await schemaState(config)
  if (incompatible) throw new BackupFailed(incompatible)
  if (applied.length === 0) throw noInstallation(config)
}

const noInstallation = ({ databaseUrl, data }: Config) =>
  new BackupFailed(
    databaseUrl
      ? 'No installation found in the database of BAILIWICK_DATABASE_URL.'
      : `No installation found in ${data}. Use --data to choose its folder.`,
  )

/** Explains errors of the file system; others stay as they are. */
function unwritable(folder: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  if (['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'SQLITE_CANTOPEN'].includes(code ?? ''))
    return new BackupFailed(`The backup can't be written to ${folder}: ${message}. Choose another folder with --to.`)
  return explainFullDisk(
    error,
    folder,
    'A backup temporarily needs as much space as the database. Free up space, or choose another folder with --to.',
  )
}

async function backUp(config: Config, work: string, options: BackupOptions): Promise<CreatedBackup> {
  const progress = new Progress(options.report)
  const createdAt = instant(systemClock.now())
  // Before the database: a checkpoint that is signed in between would look as if it was removed from the database.
  const checkpoints = checkpointFile(config)
  writeFileSync(join(work, checkpointsName), existsSync(checkpoints) ? readFileSync(checkpoints) : '', { mode: 0o600 })
  const isLogical = options.logical || config.databaseUrl !== null
  const { facts, tables, names } = await (isLogical ? copyRows : copyFile)(config, work, options, progress)
  const files: Manifest['files'] = []
  for (const name of [...names, checkpointsName]) files.push(await describe(work, name))
  const manifest: Manifest = {
    format: backupFormat,
    version,
    created_at: createdAt,
    engine: config.databaseUrl ? 'postgres' : 'sqlite',
    form: isLogical ? 'logical' : 'physical',
    ...facts,
    tables,
    series_version: names.includes(seriesName) ? seriesVersion : null,
    files,
  }
  const total = files.reduce((sum, one) => sum + one.bytes, 0)
  const draft = join(work, 'archive')
  await writeArchive(
    draft,
    manifest,
    files.map(one => ({ ...one, file: join(work, one.name) })),
    bytes => progress.note(() => `Compressing: ${Math.floor((100 * bytes) / total)}%`),
  )
  const file = join(options.folder, backupName(facts.instance_id, createdAt))
  renameSync(draft, file)
  await syncToDisk(options.folder)
  const { size: bytes } = statSync(file)
  await noteBackup(config, lastBackupOf(manifest, bytes), options)
  return { file, bytes, manifest }
}

/** Records the time of a backup, for the hub. The backup is complete even if that fails. */
async function noteBackup(config: Config, backup: LastBackup, { report }: BackupOptions): Promise<void> {
  try {
    await putFact(config, lastBackupFact, JSON.stringify(backup))
  } catch (error) {
    report(`The backup is complete, but its time could not be recorded in the database: ${(error as Error).message}`)
  }
}

interface Copied {
  facts: Facts
  tables: Manifest['tables']
  /** The files in the order in which they are restored. */
  names: string[]
}

// Copying takes more than a few seconds.
const largeBytes = 500e6

/** Copies the SQLite files. */
async function copyFile(
  config: Config,
  work: string,
  { withSeries, report }: BackupOptions,
  progress: Progress,
): Promise<Copied> {
  const file = sqliteFile(config)
  if (statSync(file).size >= largeBytes) report('Copying the database')
  copySqlite(file, join(work, databaseName))
  const copied = await withReadOnlyDatabase({ ...config, data: work }, async (rows, scan) => {
    const facts = await factsOf(config, rows)
    const tables: Manifest['tables'] = []
    for (const table of tablesOf(facts)) tables.push(await readTable(scan, table, progress))
    return { facts, tables }
  })
  return { ...copied, names: [databaseName, ...(withSeries ? copySeriesFile(config, work) : [])] }
}

/** Writes the rows of each table, all from one snapshot. Then copies the series, which change too often to hold a snapshot of them. */
async function copyRows(config: Config, work: string, { withSeries }: BackupOptions, progress: Progress): Promise<Copied> {
  await mkdir(join(work, 'tables'), { mode: 0o700 })
  const copied = await withReadOnlyDatabase(
    config,
    async (rows, scan) => {
      const facts = await factsOf(config, rows)
      const tables: Manifest['tables'] = []
      for (const table of tablesOf(facts)) {
        const handle = await open(join(work, tableFile(table.name)), 'wx', 0o600)
        try {
          tables.push(await readTable(scan, table, progress, async ({ text }) => void (await handle.writeFile(text))))
        } finally {
          await handle.close()
        }
      }
      return { facts, tables }
    },
    'snapshot',
  )
  const series = withSeries ? await (config.databaseUrl ? copySeriesRows : copySeriesFile)(config, work) : []
  return { ...copied, names: [...copied.tables.map(one => tableFile(one.name)), ...series] }
}

/** Returns the name of the copy; none if there are no check results yet. */
function copySeriesFile(config: Config, work: string): string[] {
  const file = join(config.data, seriesName)
  if (!existsSync(file)) return []
  copySqlite(file, join(work, seriesName))
  return [seriesName]
}

/** Like {@link copySeriesFile}, from PostgreSQL. */
const copySeriesRows = (config: Config, work: string): Promise<string[]> =>
  withReadOnlyDatabase(config, async (rows, scan) =>
    (await exportSeries(rows!, scan, join(work, seriesName), seriesKinds)) ? [seriesName] : [],
  )

async function factsOf(config: Config, rows: Rows | null): Promise<Facts> {
  const facts = rows && (await readFacts(rows))
  if (!facts) throw noInstallation(config)
  return facts
}

async function describe(work: string, name: string): Promise<Manifest['files'][number]> {
  const file = join(work, name)
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 18 }) as AsyncIterable<Buffer>) hash.update(chunk)
  return { name, bytes: statSync(file).size, sha256: hash.digest('hex') }
}
