import { Database } from 'bun:sqlite'
import { accessSync, constants, existsSync } from 'node:fs'
import { SQL } from 'bun'
import { migrations } from '../../../migrations/list'
import { BadSetting, sqliteFile, type Config } from '../config'
import { sha256Hex } from '../crypto'
import type { Migration } from './migrate'

/** How far a database is: tags of its steps. `refused` is a sentence when this version must not open it. */
export interface SchemaState {
  exists: boolean
  applied: string[]
  pending: string[]
  refused: string | null
}

/** Asks the database what was applied to it, and changes nothing; a file that is missing is not made. */
export async function schemaState(config: Config): Promise<SchemaState> {
  const steps = config.databaseUrl ? migrations.postgres : migrations.sqlite
  return await look(config, async rows => {
    if (!rows) return { exists: false, ...compare([], steps) }
    const known = config.databaseUrl
      ? await rows<{ n: unknown }>(
          `select 1 as n from information_schema.tables where table_schema = current_schema() and table_name = '_migrations'`,
        )
      : await rows<{ n: unknown }>(`select 1 as n from sqlite_master where type = 'table' and name = '_migrations'`)
    return { exists: true, ...compare(known.length === 0 ? [] : await rows<Row>('select tag, hash from _migrations'), steps) }
  })
}

export type Rows = <T>(query: string) => Promise<T[]>
interface Row {
  tag: string
  hash: string
}

/**
 * Runs `fn` with a connection that only reads and migrates nothing; null where there is no database yet.
 * @param view `moment`: all queries see the database as it is at the first one
 * @throws BadSetting for a file that this user may not read
 */
export async function look<T>(
  config: Config,
  fn: (rows: Rows | null) => Promise<T>,
  view: 'moment' | 'latest' = 'latest',
): Promise<T> {
  if (config.databaseUrl) {
    const sql = new SQL(config.databaseUrl, { max: 1, connectionTimeout: 5 })
    try {
      if (view === 'moment') await sql.unsafe('begin isolation level repeatable read read only')
      return await fn(async query => [...(await sql.unsafe(query))])
    } finally {
      await sql.close({ timeout: 1 })
    }
  }
  if (!existsSync(sqliteFile(config))) return await fn(null)
  refuseUnreadable(sqliteFile(config))
  const db = new Database(sqliteFile(config), { readwrite: true, create: false })
  try {
    db.run('PRAGMA busy_timeout=5000')
    db.run('PRAGMA query_only=ON')
    if (view === 'moment') db.run('BEGIN')
    return await fn(async <R>(query: string) => db.query(query).all() as R[])
  } finally {
    db.close()
  }
}

function refuseUnreadable(file: string): void {
  try {
    accessSync(file, constants.R_OK)
  } catch {
    throw new BadSetting(`BAILIWICK_DATA: ${file} cannot be read by this user: run as its owner, or chown it.`)
  }
}

function compare(rows: Row[], steps: Migration[]): Omit<SchemaState, 'exists'> {
  const stranger = rows.find(row => !steps.some(step => step.tag === row.tag))
  const changed = steps.find(step => rows.some(row => row.tag === step.tag && row.hash !== sha256Hex(step.sql)))
  return {
    applied: steps.filter(step => rows.some(row => row.tag === step.tag)).map(step => step.tag),
    pending: steps.filter(step => !rows.some(row => row.tag === step.tag)).map(step => step.tag),
    refused: stranger
      ? `The database holds migration ${stranger.tag}, which this version does not know. Use the version that made it, or a newer one.`
      : changed
        ? `Migration ${changed.tag} differs from the one this database was made with.`
        : null,
  }
}
