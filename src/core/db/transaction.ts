import { AsyncLocalStorage } from 'node:async_hooks'
import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core'

/** A writable handle. Provided only by `core/change.ts`, inside its transaction. */
export type Tx = BaseSQLiteDatabase<'async', unknown, Record<string, never>>

/** A read-only handle that sees only committed data. */
export type Reader = Pick<Tx, 'select' | 'selectDistinct' | 'with' | '$with' | '$count'>

/**
 * Runs `fn` in a transaction. Durable when the promise resolves, rolled back when it rejects.
 * @param isRoutine it only renews a lease, so it doesn't change the version of the store
 */
export type Transact = <T>(fn: (tx: Tx) => Promise<T>, isRoutine?: boolean) => Promise<T>

const context = new AsyncLocalStorage<{ over: boolean }>()

/** Thrown if a transaction is opened inside another one, which would deadlock on a single connection. */
export class NestedTransaction extends Error {
  override name = 'NestedTransaction'
  constructor() {
    super('A transaction was opened inside another one. Pass the tx handle instead.')
  }
}

/** Marks the asynchronous context of `fn` as a transaction, to detect nested transactions. */
export async function asTransaction<T>(fn: () => Promise<T>): Promise<T> {
  const outer = context.getStore()
  if (outer && !outer.over) throw new NestedTransaction()
  const mark = { over: false }
  try {
    return await context.run(mark, fn)
  } finally {
    mark.over = true
  }
}

/** An object that identifies the current transaction; null outside of transactions. */
export const currentTransaction = (): object | null => context.getStore() ?? null

/** Whether the caller is inside an open transaction. */
export const insideTransaction = (): boolean => context.getStore()?.over === false
