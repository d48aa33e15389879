import { Database } from 'bun:sqlite'
import { migrations } from '../../../../migrations/list'
import { migrateSqlite } from '../migrate'

/** A table as stored in a backup. Both engines have the same tables and columns. */
export interface BackupTable {
  name: string
  /** By name, so that the rows of a table look the same wherever they come from. */
  columns: { name: string; kind: 'text' | 'integer' | 'blob' }[]
  /** The columns that determine the order of the rows: the primary key. Empty for any order. */
  key: string[]
}

/** Thrown if a table of a SQLite file can't be part of a backup. */
export class InvalidTable extends Error {
  override name = 'InvalidTable'
}

const bookkeeping = '_migrations'

/** The tables that these migrations create, parents before their children. */
export function backupTables(tags: readonly string[]): BackupTable[] {
  using db = new Database(':memory:')
  migrateSqlite(
    db,
    migrations.sqlite.filter(step => tags.includes(step.tag)),
  )
  const names = db
    .query<{ name: string }, []>(`select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name`)
    .all()
    .map(one => one.name)
    .filter(name => name !== bookkeeping)
  const parents = new Map(
    names.map(name => [
      name,
      db
        .query<{ table: string }, [string]>('select "table" from pragma_foreign_key_list(?)')
        .all(name)
        .map(one => one.table),
    ]),
  )
  const ordered = new Set<string>()
  const add = (name: string) => {
    if (ordered.has(name)) return
    for (const parent of parents.get(name)!) add(parent)
    ordered.add(name)
  }
  for (const name of names) add(name)
  return [...ordered].map(name => tableOf(db, name))
}

/** Describes a table of a SQLite file. @throws InvalidTable */
export function tableOf(db: Database, name: string): BackupTable {
  type Column = { name: string; type: string; pk: number }
  const columns = db.query<Column, [string]>('select name, type, pk from pragma_table_info(?)').all(name)
  if (columns.some(one => !/^[a-z]\w*$/i.test(one.name))) throw new InvalidTable(`${name} has a column with an invalid name`)
  return {
    name,
    columns: columns
      .map(one => ({ name: one.name, kind: kindOf(one.type.toLowerCase()) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    key: columns
      .filter(one => one.pk > 0)
      .sort((a, b) => a.pk - b.pk)
      .map(one => one.name),
  }
}

const kindOf = (type: string): BackupTable['columns'][number]['kind'] =>
  type === 'blob' ? 'blob' : type === 'text' || type === 'varchar' ? 'text' : 'integer'
