import { count, eq } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { locking } from '../core/db/dialect'
import type { Tx } from '../core/db/transaction'
import { conflict } from '../core/problem'
import { workspaces } from './tables'

/**
 * Refuses one more row of which a workspace has so many at most, whatever its plan. Transactions of one workspace that count take
 * turns, so two that arrive together cannot both be the last.
 * @param things in the plural, such as `DNS templates`
 * @throws Problem 409
 */
export async function refuseOneTooMany(
  tx: Tx,
  workspaceId: string,
  { table, most, things }: { table: SQLiteTable & { workspaceId: SQLiteColumn }; most: number; things: string },
): Promise<void> {
  await locking(tx.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.id, workspaceId)))
  const [row] = await tx.select({ n: count() }).from(table).where(eq(table.workspaceId, workspaceId))
  if (row!.n >= most) throw conflict(`A workspace has ${most} ${things} at most.`)
}
