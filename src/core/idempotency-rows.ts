import { and, eq, lt, sql, type Column, type SQL } from 'drizzle-orm'
import type { StoredResponse } from './ctx'
import { insertRowsReturning, parameter, skipExisting } from './db/insert-rows'
import { prepared } from './db/prepared'
import { idempotencyKeys } from './db/tables'
import type { Tx } from './db/transaction'

type Row = typeof idempotencyKeys.$inferSelect
/** Identifies the row of an Idempotency-Key. */
export type KeyRow = Pick<Row, 'workspaceId' | 'method' | 'path' | 'key'>
/** The row of an Idempotency-Key while a process runs the request. */
export type HeldRow = KeyRow & { runningIn: string }

const columns = idempotencyKeys as unknown as Record<string, Column>
const value = (name: string): SQL => sql`${parameter(name, columns[name]!)}`
const isRow = (...names: string[]): SQL | undefined =>
  and(...['workspaceId', 'method', 'path', 'key', ...names].map(name => eq(columns[name]!, sql.placeholder(name))))
const isHeld = () => isRow('runningIn')

/** Stores the response of a held row. False if another process took it over. */
export async function storeResponseOf(tx: Tx, held: HeldRow, response: StoredResponse): Promise<boolean> {
  const { status, body, location, etag } = response
  const stored = await prepared<unknown[], Tx>(tx, 'idempotency-store', handle =>
    handle
      .update(idempotencyKeys)
      .set({ runningIn: null, status: value('status'), body: value('body'), location: value('location'), etag: value('etag') })
      .where(isHeld())
      .returning({ key: idempotencyKeys.key }),
  ).execute({ ...held, status, body, location, etag })
  return stored.length > 0
}

/** Deletes a held row. */
export async function deleteHeld(tx: Tx, held: HeldRow): Promise<void> {
  await prepared<unknown, Tx>(tx, 'idempotency-release', handle => handle.delete(idempotencyKeys).where(isHeld())).execute(held)
}

/** Inserts a row, replacing one from before `oldestAt` (ms UTC). False if there is a newer one. */
export async function insertKey(
  tx: Tx,
  row: HeldRow & Pick<Row, 'fingerprint' | 'createdAt'>,
  oldestAt: number,
): Promise<boolean> {
  await prepared<unknown, Tx>(tx, 'idempotency-expire', handle =>
    handle.delete(idempotencyKeys).where(and(isRow(), lt(idempotencyKeys.createdAt, sql.placeholder('oldestAt')))),
  ).execute({ ...row, oldestAt })
  return (await insertRowsReturning(tx, idempotencyKeys, [row], skipExisting)).length > 0
}

export async function findKey(tx: Tx, row: KeyRow): Promise<Row | undefined> {
  const [found] = await prepared<Row[], Tx>(tx, 'idempotency-find', handle =>
    handle.select().from(idempotencyKeys).where(isRow()),
  ).execute({ ...row })
  return found
}
