import { eq, sql } from 'drizzle-orm'
import { insertRowsReturning, type OnConflict } from './db/insert-rows'
import { prepared } from './db/prepared'
import { counters } from './db/tables'
import type { Reader, Tx } from './db/transaction'

/** Name of the counter with the position of the last event in the feed of a workspace. */
export const feedCounter = (workspaceId: string): string => `feed:${workspaceId}`

/** Name of the counter with the last sequence number of the events of a resource and kind. */
export const eventCounter = (resourceId: string, kind: string): string => `event:${resourceId}:${kind}`

/** A counter after numbers were taken from it. */
export interface Taken {
  /** The last taken number. */
  value: number
  /** For an audit chain: the hash of its last event. */
  head: Uint8Array | null
}

/** Takes the next number of a gapless sequence, or the last of the next `n`. Locks the sequence until the transaction ends. */
export async function nextNumber(tx: Tx, name: string, n = 1): Promise<number> {
  return (await takeNumbers(tx, new Map([[name, n]]))).get(name)!.value
}

/** The last number of a sequence that was taken; 0 if none was. */
export async function lastNumber(read: Reader, name: string): Promise<number> {
  const [row] = await read.select({ value: counters.value }).from(counters).where(eq(counters.name, name))
  return row?.value ?? 0
}

/**
 * Takes the next numbers of several sequences and locks them, in this order, until the transaction ends.
 * @param counts how many numbers to take, by the name of the sequence
 */
export async function takeNumbers(tx: Tx, counts: ReadonlyMap<string, number>): Promise<Map<string, Taken>> {
  const rows = await insertRowsReturning(
    tx,
    counters,
    [...counts].map(([name, value]) => ({ name, value })),
    countUp,
  )
  return new Map(rows.map(row => [row.name, row]))
}

const countUp: OnConflict = {
  name: 'count-up',
  apply: insert =>
    // `excluded.value` is the requested number of numbers.
    insert.onConflictDoUpdate({ target: counters.name, set: { value: sql`${counters.value} + excluded.value` } as never }),
}

/** Stores the hash of the last event of an audit chain with its counter. */
export async function setHead(tx: Tx, name: string, head: Uint8Array): Promise<void> {
  await prepared<unknown, Tx>(tx, 'counter-head', handle =>
    handle
      .update(counters)
      .set({ head: sql`${sql.placeholder('head')}` })
      .where(eq(counters.name, sql.placeholder('name'))),
  ).execute({ name, head })
}
