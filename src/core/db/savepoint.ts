import { sql, type SQL } from 'drizzle-orm'
import { isPostgres } from './dialect'
import type { Tx } from './transaction'

/** Runs a step of a transaction in a savepoint: if it throws, only the step is rolled back. */
export async function inSavepoint<T>(tx: Tx, step: () => Promise<T>): Promise<T> {
  await execute(tx, sql`savepoint step`)
  let value: T
  try {
    value = await step()
  } catch (error) {
    try {
      await execute(tx, sql`rollback to savepoint step`)
      await execute(tx, sql`release savepoint step`)
    } catch {
      // The engine rolled back the whole transaction; the first error has the reason.
    }
    throw error
  }
  await execute(tx, sql`release savepoint step`)
  return value
}

/** Runs a step of a transaction, rolls it back and returns its result. */
export async function dryRun<T>(tx: Tx, step: () => Promise<T>): Promise<T> {
  const rollback = new Error('Dry run.')
  const results: T[] = []
  try {
    await inSavepoint(tx, async () => {
      results.push(await step())
      throw rollback
    })
  } catch (error) {
    if (error !== rollback) throw error
  }
  return results[0]!
}

const execute = async (tx: Tx, statement: SQL): Promise<unknown> =>
  isPostgres ? await (tx as unknown as { execute(statement: SQL): Promise<unknown> }).execute(statement) : await tx.run(statement)
