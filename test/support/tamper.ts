import { Database } from 'bun:sqlite'
import { SQL } from 'bun'
import { sqliteFile } from '../../src/core/config'
import type { Hub } from '../../src/core/hub'

const triggers = [
  'audit_entries_no_update',
  'audit_entries_no_delete',
  'audit_checkpoints_no_update',
  'audit_checkpoints_no_delete',
]

/** Writes to the database of a hub directly, as someone with access to the file or the database server could. */
export async function tamper(hub: Hub, statements: string[], guarded = false): Promise<void> {
  if (hub.config.databaseUrl) {
    const sql = new SQL(hub.config.databaseUrl, { max: 1 })
    try {
      if (!guarded)
        for (const name of ['audit_entries', 'audit_checkpoints']) await sql.unsafe(`alter table ${name} disable trigger all`)
      for (const statement of statements) await sql.unsafe(statement)
    } finally {
      await sql.close()
    }
    return
  }
  const db = new Database(sqliteFile(hub.config))
  try {
    db.run('PRAGMA busy_timeout=5000')
    if (!guarded) for (const name of triggers) db.run(`drop trigger if exists ${name}`)
    for (const statement of statements) db.run(statement)
  } finally {
    db.close()
  }
}

/** Formats bytes as a literal for the database engine of the hub. */
export const bytes = (hub: Hub, value: Uint8Array): string =>
  hub.config.databaseUrl ? `'\\x${Buffer.from(value).toString('hex')}'::bytea` : `x'${Buffer.from(value).toString('hex')}'`
