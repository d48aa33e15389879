import type { Scan } from '../schema-state'
import type { BackupTable } from './tables'

/** Some rows of a table: one JSON object per line. */
export interface Lines {
  text: string
  rows: number
}

/** A value of a row in JSON: integers as numbers, booleans as 0 and 1, bytes in base64. */
type Value = string | number | null

/**
 * Reads a table as NDJSON, in the order of its key. The bytes depend only on the content: not on the engine, and not on
 * the order in which rows were written.
 */
export async function* linesOf(scan: Scan, { name, columns, key }: BackupTable): AsyncGenerator<Lines> {
  const order = key.length > 0 ? ` order by ${quoted(key)}` : ''
  const query = `select ${quoted(columns.map(one => one.name))} from "${name}"${order}`
  const others = columns.filter(one => one.kind !== 'text')
  for await (const rows of scan<Record<string, unknown>>(query)) {
    let text = ''
    for (const row of rows) {
      for (const column of others)
        row[column.name] = column.kind === 'blob' ? base64(row[column.name]) : integer(row[column.name])
      text += `${JSON.stringify(row)}\n`
    }
    yield { text, rows: rows.length }
  }
}

/** Names as an SQL list. */
export const quoted = (names: readonly string[]): string => names.map(one => `"${one.replaceAll('"', '""')}"`).join(', ')

const base64 = (value: unknown): Value => (value === null ? null : Buffer.from(value as Uint8Array).toString('base64'))

/** PostgreSQL returns integers as text and has booleans. SQLite can store fractions in an integer column. */
function integer(value: unknown): Value {
  if (value === null) return null
  const number = Math.trunc(Number(value))
  if (!Number.isSafeInteger(number)) throw new Error(`The database contains the number ${String(value)}, which is too large.`)
  return number
}
