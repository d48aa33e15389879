import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { sqliteFile, type Config } from '../config'
import { isPostgres } from './dialect'
import type { Reader } from './transaction'

/** The database and its size. */
interface DatabaseSize {
  engine: 'sqlite' | 'postgres'
  /** Version of the engine. */
  version: string
  /** Includes check results. */
  bytes: number
  /** SQLite: the size of the write-ahead log, which contains changes that are not in the main file yet. Null on PostgreSQL. */
  logBytes: number | null
}

export async function databaseSize(config: Config, read: Reader): Promise<DatabaseSize> {
  const [row] = await read.select(isPostgres ? postgresFields : sqliteFields).from(sql`(select 1 as one) as one`)
  const version = String(row!.version)
  if (isPostgres) return { engine: 'postgres', version, bytes: Number(row!.bytes), logBytes: null }
  const file = sqliteFile(config)
  const series = join(config.data, 'series.db')
  const bytes = [file, series, `${series}-wal`].map(sizeOf).reduce((sum, size) => sum + size)
  return { engine: 'sqlite', version, bytes, logBytes: sizeOf(`${file}-wal`) }
}

const postgresFields = {
  version: sql<unknown>`current_setting('server_version')`,
  bytes: sql<unknown>`pg_database_size(current_database())`,
}
const sqliteFields = { version: sql<unknown>`sqlite_version()`, bytes: sql<unknown>`0` }

const sizeOf = (file: string): number => (existsSync(file) ? statSync(file).size : 0)
