import { AsyncLocalStorage } from 'node:async_hooks'
import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core'

/** A handle that can write. Only the door (`core/change.ts`) hands one out, and only inside its transaction. */
export type Tx = BaseSQLiteDatabase<'async', unknown, Record<string, never>>

/** A handle that can only read, and sees nothing that is not committed. */
export type Reader = Pick<Tx, 'select' | 'selectDistinct' | 'with' | '$with' | '$count'>

/** Runs `fn` in a transaction that is durable once the promise resolves, and undone when it rejects. */
export type Transact = <T>(fn: (tx: Tx) => Promise<T>) => Promise<T>

const inside = new AsyncLocalStorage<{ over: boolean }>()

/** Thrown when a transaction is opened inside another: on one connection it would wait for itself. */
export class NestedTransaction extends Error {
  override name = 'NestedTransaction'
  constructor() {
    super('A transaction was opened inside another; pass the tx handle down instead.')
  }
}

/** Marks the asynchronous context of `fn` as being inside a transaction, and refuses a second one within it. */
export async function once<T>(fn: () => Promise<T>): Promise<T> {
  const outer = inside.getStore()
  if (outer && !outer.over) throw new NestedTransaction()
  const mark = { over: false }
  try {
    return await inside.run(mark, fn)
  } finally {
    mark.over = true
  }
}

/** Stands for the transaction that the caller runs inside; null outside of any. */
export const currentTransaction = (): object | null => inside.getStore() ?? null

/** Whether the caller runs inside a transaction that is still open. */
export const insideTransaction = (): boolean => inside.getStore()?.over === false
