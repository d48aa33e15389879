import { sql, type SQL } from 'drizzle-orm'
import { isPostgres } from './dialect'
import type { Tx } from './transaction'

/** Runs a step of a transaction that is undone by itself when it throws: what was written before it stays. */
export async function undoable<T>(tx: Tx, step: () => Promise<T>): Promise<T> {
  await say(tx, sql`savepoint step`)
  let value: T
  try {
    value = await step()
  } catch (error) {
    try {
      await say(tx, sql`rollback to savepoint step`)
      await say(tx, sql`release savepoint step`)
    } catch {
      // The engine undid the whole transaction, and said why in the first error.
    }
    throw error
  }
  await say(tx, sql`release savepoint step`)
  return value
}

/** Runs a step of a transaction and undoes it: what it gives is what it would have come to. */
export async function triedOut<T>(tx: Tx, step: () => Promise<T>): Promise<T> {
  const undone = new Error('The step was tried out.')
  const come: T[] = []
  try {
    await undoable(tx, async () => {
      come.push(await step())
      throw undone
    })
  } catch (error) {
    if (error !== undone) throw error
  }
  return come[0]!
}

const say = async (tx: Tx, statement: SQL): Promise<unknown> =>
  isPostgres ? await (tx as unknown as { execute(statement: SQL): Promise<unknown> }).execute(statement) : await tx.run(statement)
