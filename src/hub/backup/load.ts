import { createWriteStream, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { migrations } from '../../../migrations/list'
import { sha256Hex } from '../../core/crypto'
import { sqliteDamage } from '../../core/db/backup/copy-sqlite'
import { loadPostgres, loadSqlite, withSqliteFile, type LoadTarget } from '../../core/db/backup/load'
import { violation } from '../../core/db/errors'
import { canReadSeries, importSeries } from '../../core/db/backup/series-copy'
import { InvalidTable, type BackupTable } from '../../core/db/backup/tables'
import { version } from '../../core/version'
import { seriesKinds } from '../../features/series-kinds'
import { readArchive, type Consume } from './archive'
import { differenceFrom, tablesOf } from './contents'
import { BackupDamaged, BackupFailed, explainFullDisk } from './errors'
import { checkpointsName, databaseName, seriesName, tableFile, type Manifest } from './manifest'
import { withTemporaryFolder } from './temporary'
import type { Progress } from './progress'

/** Runs on the loaded database, in the same transaction if the backup is logical. */
type Finish = (target: LoadTarget) => Promise<void>

/**
 * Loads a backup into new files in a folder, with a SQLite database, and checks that its content matches the manifest.
 * @param finish runs after the check
 * @throws BackupFailed
 */
export async function loadIntoFolder(
  file: string,
  manifest: Manifest,
  folder: string,
  progress: Progress,
  finish: Finish = async () => {},
): Promise<void> {
  const database = join(folder, databaseName)
  const finishChecked = async (target: LoadTarget) => {
    const difference = await differenceFrom(manifest, target.scan, progress)
    if (difference) throw new BackupDamaged(file, difference)
    await finish(target)
  }
  if (manifest.form === 'physical') {
    await readArchive(file, async () => (name, content) => store(join(folder, name), name, content, progress))
    checkDamage(file, database)
    await withSqliteFile(database, finishChecked)
  } else {
    const load = async (target: LoadTarget) => {
      await readArchive(file, async () => loader(file, manifest, target, folder, progress))
    }
    await loadIndexed(file, () => loadSqlite(database, tagsOf(manifest), load, finishChecked))
    checkDamage(file, database)
  }
  if (manifest.series_version !== null) checkDamage(file, join(folder, seriesName))
}

/**
 * Loads a logical backup into an empty PostgreSQL schema in one transaction, and checks that its content matches the manifest.
 * @param finish runs at the end of the transaction; receives the checkpoints of the audit log
 * @throws BackupFailed, NotEmpty
 */
export async function loadIntoPostgres(
  file: string,
  manifest: Manifest,
  url: string,
  progress: Progress,
  finish: (target: LoadTarget, folder: string) => Promise<void>,
): Promise<void> {
  const create = () => mkdtempSync(join(tmpdir(), 'bailiwick-restore-'))
  try {
    await withTemporaryFolder(create, folder => {
      const load = async (target: LoadTarget) => {
        await readArchive(file, async () => loader(file, manifest, target, folder, progress))
        if (manifest.series_version !== null) await importSeries(join(folder, seriesName), target, seriesKinds)
      }
      return loadIndexed(file, () =>
        loadPostgres(url, tagsOf(manifest), load, async target => {
          const difference = await differenceFrom(manifest, target.scan, progress)
          if (difference) throw new BackupDamaged(file, difference)
          await finish(target, folder)
        }),
      )
    })
  } catch (error) {
    throw explainFullDisk(error, tmpdir(), 'Free up space, or choose another folder for temporary files with TMPDIR.')
  }
}

/** Explains errors that don't belong to the row of a table: unique constraints are checked when their index is created. */
async function loadIndexed(file: string, load: () => Promise<void>): Promise<void> {
  try {
    await load()
  } catch (error) {
    if (error instanceof InvalidTable) throw new BackupDamaged(file, error.message)
    throw violation(error) ? new BackupDamaged(file, 'its rows violate a constraint') : error
  }
}

/** @throws BackupFailed if this version can't read the data of the backup */
export function checkVersion(file: string, manifest: Manifest): void {
  const known = migrations[manifest.engine]
  const newer = manifest.migrations.find(one => !known.some(step => step.tag === one.tag))
  if (newer || (manifest.series_version !== null && !canReadSeries(manifest.series_version)))
    throw new BackupFailed(
      `${file} was made by Bailiwick ${manifest.version}, which is newer than this version (${version}). Use that version or a newer one.`,
    )
  const changed = manifest.migrations.find(one => sha256Hex(known.find(step => step.tag === one.tag)!.sql) !== one.sha256)
  if (changed) throw new BackupFailed(`${file} has a different version of migration ${changed.tag} than this program.`)
}

const tagsOf = (manifest: Manifest): string[] => manifest.migrations.map(one => one.tag)

function checkDamage(file: string, database: string): void {
  const damage = sqliteDamage(database)
  if (damage) throw new BackupDamaged(file, damage)
}

/** Inserts the tables, and stores the other files in the folder. */
function loader(file: string, manifest: Manifest, target: LoadTarget, folder: string, progress: Progress): Consume {
  const tables = new Map(tablesOf(manifest).map(table => [tableFile(table.name), table]))
  return async (name, content) => {
    const table = tables.get(name)
    if (table) await insertRows(file, table, content, target, progress)
    else await store(join(folder, name), name, content, progress)
  }
}

const maxBatchBytes = 1 << 20
const maxBatchRows = 1_000

async function insertRows(
  file: string,
  table: BackupTable,
  content: AsyncIterable<Uint8Array>,
  target: LoadTarget,
  progress: Progress,
): Promise<void> {
  let rows = 0
  let batch: string[] = []
  let bytes = 0
  const flush = async () => {
    if (batch.length === 0) return
    try {
      await target.insert(table, batch)
    } catch (error) {
      throw explained(file, table.name, error)
    }
    rows += batch.length
    progress.note(() => `Loading ${table.name}: ${rows} rows`)
    batch = []
    bytes = 0
  }
  for await (const line of linesIn(file, table.name, content)) {
    batch.push(line)
    bytes += line.length
    if (bytes >= maxBatchBytes || batch.length >= maxBatchRows) await flush()
  }
  await flush()
}

function explained(file: string, table: string, error: unknown): unknown {
  const { errno } = error as { errno?: unknown }
  // PostgreSQL Appendix A: untranslatable_character, and invalid_text_representation.
  if (errno === '22P05') return new BackupFailed(`A row of ${table} contains a NUL character, which PostgreSQL can't store.`)
  if (error instanceof SyntaxError || errno === '22P02') return new BackupDamaged(file, `a row of ${table} is not valid JSON`)
  return violation(error) ? new BackupDamaged(file, `a row of ${table} violates a constraint`) : error
}

// Rows have up to 100 kB.
const maxLineLength = 64 * 2 ** 20

async function* linesIn(file: string, table: string, content: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let rest = ''
  for await (const chunk of content) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    if (rest.length > maxLineLength) throw new BackupDamaged(file, `a row of ${table} is too long`)
    yield* lines
  }
  if (rest !== '') yield rest
}

const storedNames = [databaseName, seriesName, checkpointsName]

async function store(path: string, name: string, content: AsyncIterable<Uint8Array>, progress: Progress): Promise<void> {
  if (!storedNames.includes(name)) {
    // Don't use an unexpected name as a path.
    for await (const _ of content) continue
    return
  }
  let bytes = 0
  async function* noted() {
    for await (const chunk of content) {
      bytes += chunk.length
      progress.note(() => `Extracting ${name}: ${Math.floor(bytes / 1e6)} MB`)
      yield chunk
    }
  }
  await pipeline(Readable.from(noted()), createWriteStream(path, { flags: 'wx', mode: 0o600 }))
}
