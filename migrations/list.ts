// Written by `bun run migrations`; do not edit.
import sqlite0 from './sqlite/0000_init.sql' with { type: 'text' }
import sqlite1 from '../src/core/db/written/0000_audit_guard.sqlite.sql' with { type: 'text' }
import sqlite2 from './sqlite/0001_monitoring.sql' with { type: 'text' }
import sqlite3 from './sqlite/0002_dashboard.sql' with { type: 'text' }
import postgres0 from './postgres/0000_init.sql' with { type: 'text' }
import postgres1 from '../src/core/db/written/0000_audit_guard.postgres.sql' with { type: 'text' }
import postgres2 from './postgres/0001_monitoring.sql' with { type: 'text' }
import postgres3 from './postgres/0002_dashboard.sql' with { type: 'text' }

/** Every step of the schema, in order, for each engine. */
export const migrations: Record<'sqlite' | 'postgres', { tag: string; sql: string }[]> = {
  sqlite: [
    { tag: '0000_init', sql: sqlite0 },
    { tag: '0000_audit_guard', sql: sqlite1 },
    { tag: '0001_monitoring', sql: sqlite2 },
    { tag: '0002_dashboard', sql: sqlite3 },
  ],
  postgres: [
    { tag: '0000_init', sql: postgres0 },
    { tag: '0000_audit_guard', sql: postgres1 },
    { tag: '0001_monitoring', sql: postgres2 },
    { tag: '0002_dashboard', sql: postgres3 },
  ],
}
