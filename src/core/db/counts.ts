import { sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Reader } from './transaction'

/** What is counted no further: beyond it nobody cares how many they are, and each costs a look. */
export const mostCounted = 10_000

/** How many rows a query finds, counted up to so many. */
export async function countRows(
  read: Reader,
  query: { limit(most: number): { as(alias: string): unknown } },
  most = mostCounted,
): Promise<number> {
  // A subquery is selected from like a table; drizzle's types tell them apart.
  const inner = query.limit(most).as('counted') as SQLiteTable
  const [row] = await read.select({ total: sql`count(*)`.mapWith(Number) }).from(inner)
  return row!.total
}

/** Numbers by word, with 0 for words of which there are none. */
export const numbersOf = <const W extends string>(
  words: readonly W[],
  rows: readonly { word: string; n: number }[],
): Record<W, number> =>
  Object.fromEntries(words.map(word => [word, rows.find(row => row.word === word)?.n ?? 0])) as Record<W, number>
