import type { Database } from 'bun:sqlite'
import type { SQL } from 'bun'
import { migrations } from '../../../migrations/list'
import { sha256Hex } from '../crypto'
import { systemClock } from '../clock'

/** One step of the schema: its name and its statements, as drizzle-kit wrote them. */
export interface Migration {
  tag: string
  sql: string
}

/** Thrown when the database was made by another history of the schema: starting anyway could destroy it. */
export class MigrationRefused extends Error {
  override name = 'MigrationRefused'
}

/**
 * Applies what is missing, each step in a transaction of its own.
 * Foreign keys are off while tables are rebuilt: drizzle-kit turns them off inside the transaction, where SQLite ignores it,
 * and the rebuild would then delete every child row.
 */
export function migrateSqlite(db: Database, steps: Migration[] = migrations.sqlite): string[] {
  db.run('create table if not exists _migrations(tag text primary key, hash text not null, applied_at integer not null)')
  const applied: string[] = []
  for (const step of steps) {
    db.run('PRAGMA foreign_keys=OFF')
    db.run('BEGIN IMMEDIATE')
    try {
      const rows = db.query<{ tag: string; hash: string }, []>('select tag, hash from _migrations').all()
      if (isPending(step, rows, steps)) {
        for (const statement of statements(step)) db.run(statement)
        if (db.query('PRAGMA foreign_key_check').all().length > 0)
          throw new MigrationRefused(`Migration ${step.tag} would leave rows without their parent.`)
        db.run('insert into _migrations values (?, ?, ?)', [step.tag, sha256Hex(step.sql), systemClock.now()])
        applied.push(step.tag)
      }
      db.run('COMMIT')
    } catch (error) {
      db.run('ROLLBACK')
      throw error
    } finally {
      db.run('PRAGMA foreign_keys=ON')
    }
  }
  return applied
}

// Any number that no other program on the same database uses: the lock makes the processes that start together take turns.
const lockKey = 7264519

/** Applies what is missing in one transaction, under a lock that lets one process at a time do it. */
export async function migratePostgres(sql: SQL, steps: Migration[] = migrations.postgres): Promise<string[]> {
  return await sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(${lockKey})`
    await tx.unsafe(
      'create table if not exists _migrations(tag text primary key, hash text not null, applied_at bigint not null)',
    )
    const rows = (await tx`select tag, hash from _migrations`) as { tag: string; hash: string }[]
    const applied: string[] = []
    for (const step of steps) {
      if (!isPending(step, rows, steps)) continue
      for (const statement of statements(step)) await tx.unsafe(statement)
      await tx`insert into _migrations values (${step.tag}, ${sha256Hex(step.sql)}, ${systemClock.now()})`
      applied.push(step.tag)
    }
    return applied
  })
}

function isPending(step: Migration, rows: { tag: string; hash: string }[], steps: Migration[]): boolean {
  const stranger = rows.find(row => !steps.some(one => one.tag === row.tag))
  if (stranger)
    throw new MigrationRefused(
      `The database holds migration ${stranger.tag}, which this version does not know. Use the version that made it, or a newer one.`,
    )
  const row = rows.find(one => one.tag === step.tag)
  if (row && row.hash !== sha256Hex(step.sql))
    throw new MigrationRefused(`Migration ${step.tag} differs from the one this database was made with.`)
  return !row
}

function statements(step: Migration): string[] {
  return step.sql
    .split('--> statement-breakpoint')
    .map(part => part.trim())
    .filter(Boolean)
}
