import { sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Reader } from './transaction'

/** Counting stops here, because counting more rows is slow and rarely useful. */
const maxCounted = 10_000

/** Counts the rows of a query, up to a maximum. */
export async function countRows(
  read: Reader,
  query: { limit(max: number): { as(alias: string): unknown } },
  max = maxCounted,
): Promise<number> {
  // Drizzle has different types for subqueries and tables.
  const inner = query.limit(max).as('counted') as SQLiteTable
  const [row] = await read.select({ total: sql`count(*)`.mapWith(Number) }).from(inner)
  return row!.total
}

/** Counts by word, with 0 for words without rows. */
export const countsByWord = <const W extends string>(
  words: readonly W[],
  rows: readonly { word: string; n: number }[],
): Record<W, number> =>
  Object.fromEntries(words.map(word => [word, rows.find(row => row.word === word)?.n ?? 0])) as Record<W, number>
