import * as Pg from 'drizzle-orm/pg-core'
import * as Sqlite from 'drizzle-orm/sqlite-core'
import { either } from './dialect'

// Sort by bytes on PostgreSQL too, so that lists have the same order as on SQLite.
const pgText = Pg.customType<{ data: string; driverData: string }>({ dataType: () => 'text collate "C"' })

// JSON is stored as text on both engines, because Bun's PostgreSQL driver stores jsonb parameters as JSON strings. SQL never
// queries it.
const pgJson = Pg.customType<{ data: unknown; driverData: string }>({
  dataType: () => 'text',
  toDriver: value => JSON.stringify(value),
  fromDriver: value => JSON.parse(value),
})
const sqliteBytes = Sqlite.customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'blob' })
const pgBytes = Pg.customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'bytea' })

export const text = <const E extends [string, ...string[]] = [string, ...string[]]>(name: string, options?: { enum: E }) =>
  either(Sqlite.text(name, options as { enum: E }), pgText(name))
/** An integer up to 2^53. */
export const int = (name: string) => either(Sqlite.integer(name), Pg.bigint(name, { mode: 'number' }))
/** Milliseconds since the Unix epoch, UTC. */
export const time = int
export const flag = (name: string) => either(Sqlite.integer(name, { mode: 'boolean' }), Pg.boolean(name))
export const json = <T>(name: string) => either(Sqlite.text(name, { mode: 'json' }).$type<T>(), pgJson(name))
export const bytes = (name: string) => either(sqliteBytes(name), pgBytes(name))

/** The columns of a row that can be updated; `editable` are its fields in the API. */
export const editableColumns = () => ({
  version: int('version').notNull(),
  createdAt: time('created_at').notNull(),
  updatedAt: time('updated_at').notNull(),
})
