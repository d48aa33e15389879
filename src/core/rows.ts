import { and, eq, getTableName, inArray, sql, type SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { target } from './audit'
import type { AuditAction } from './audit-actions'
import { change, isUnchanged, record } from './change'
import type { ChangeResult } from './change-result'
import type { Ctx } from './ctx'
import { forUpdate } from './db/dialect'
import { violation } from './db/errors'
import { insertReturning } from './db/insert-rows'
import { prepared } from './db/prepared'
import type { AuditTarget } from './db/tables'
import type { Reader, Tx } from './db/transaction'
import type { Hub } from './hub'
import { newId, type IdPrefix } from './ids'
import { requireMatch } from './if-match'
import { notFound, Problem, type FieldProblem } from './problem'
import { canAccess } from './resource-access'

// What operations do with the rows of a resource: find, lock, insert, save, remove, prune.

type RowTable = SQLiteTable & { id: SQLiteColumn; workspaceId?: SQLiteColumn }
type VersionedTable = RowTable & { version: SQLiteColumn; updatedAt: SQLiteColumn }
type RowOf<T extends SQLiteTable> = T['$inferSelect']

/** The rows of a resource. */
interface Rows<T extends RowTable = RowTable> {
  table: T
  /** Type in the audit log and in events, such as `maintenance_window`. */
  type: string
  /** Noun in messages, such as `maintenance window`. */
  name: string
  /** The noun with its article. */
  one: string
  /** Prefix of the ids. */
  prefix: IdPrefix
  /** The resource to which a restricted token needs access; the row itself by default. */
  accessTo?(row: RowOf<T>): string | null
  /** The column with the workspace, or with another owner such as a user. Null if all rows belong to the installation. */
  owner: SQLiteColumn | null
  /** The property that names a row in the audit log: a text, or a list of them. */
  label: string
}

/** A row as the target of audit events. */
export const targetOf = ({ type, label }: Pick<Rows, 'type' | 'label'>, row: { id: string }): AuditTarget => {
  const name: string | string[] = row[label as 'id']
  return target(type, { id: row.id, name: Array.isArray(name) ? name.join(', ') : name })
}

/** Returns a row of the caller's workspace, or of `owner`. @throws Problem 404 */
export const findRow = async <T extends RowTable>(
  read: Reader,
  ctx: Ctx,
  rows: Rows<T>,
  id: string,
  owner: string = ctx.workspaceId,
): Promise<RowOf<T>> => existing(ctx, rows, await selectRow(read, rows, id, owner))

/** Locks a row of the caller's workspace, or of `owner`, until the transaction ends, and checks If-Match. @throws Problem 404, 412 */
export async function lockRow<T extends RowTable>(
  tx: Tx,
  ctx: Ctx,
  rows: Rows<T>,
  id: string,
  owner: string = ctx.workspaceId,
): Promise<RowOf<T>> {
  const row = existing(ctx, rows, await selectRow(tx, rows, id, owner, 'lock'))
  if ('version' in row) requireMatch(ctx, row as { version: number })
  return row
}

function selectRow<T extends RowTable>(
  read: Reader,
  { table, owner: column }: Rows<T>,
  id: string,
  owner: string,
  lock: 'lock' | null = null,
): Promise<RowOf<T>[]> {
  const name = `row|${getTableName(table)}|${column?.name}|${lock}`
  const found = prepared(read, name, handle => {
    const query = handle
      .select()
      .from(table as SQLiteTable)
      .where(and(eq(table.id, sql.placeholder('id')), column ? eq(column, sql.placeholder('owner')) : undefined))
    return lock ? forUpdate(query) : query
  })
  return found.execute({ id, owner }) as Promise<RowOf<T>[]>
}

function existing<T extends RowTable>(ctx: Ctx, { accessTo, name, owner }: Rows<T>, [row]: RowOf<T>[]): RowOf<T> {
  // Tokens can only be restricted to resources of a workspace.
  if (!row || (owner && !canAccess(ctx, accessTo ? accessTo(row) : (row.id as string)))) throw notFound(name)
  return row
}

type Managed = 'id' | 'workspaceId' | 'version' | 'createdAt' | 'updatedAt'

/** Inserts a row, into the caller's workspace if it belongs to one. @param values all columns but id, workspace, version, and times */
export async function insertRow<T extends VersionedTable>(
  tx: Tx,
  ctx: Pick<Ctx, 'hub' | 'workspaceId'>,
  { table, prefix }: Rows<T>,
  values: Omit<T['$inferInsert'], Managed> & { id?: string },
): Promise<RowOf<T>> {
  const now = ctx.hub.clock.now()
  const own = { id: newId(prefix), ...(table.workspaceId && { workspaceId: ctx.workspaceId }) }
  const stamps = { version: 1, createdAt: now, updatedAt: now }
  return await insertReturning<SQLiteTable>(tx, table, { ...own, ...stamps, ...values })
}

/** Saves columns as a new version of a row. Returns the same row, unchanged, if they all have these values already. */
export async function saveRow<T extends VersionedTable>(
  tx: Tx,
  { hub }: Pick<Ctx, 'hub'>,
  { table }: Rows<T>,
  row: RowOf<T>,
  columns: Partial<RowOf<T>>,
): Promise<RowOf<T>> {
  if (isUnchanged(row as object, columns)) return row
  const [saved] = await tx
    .update(table as SQLiteTable)
    .set({ ...columns, version: (row.version as number) + 1, updatedAt: hub.clock.now() })
    .where(eq(table.id, row.id))
    .returning()
  return saved as RowOf<T>
}

/** Deletes a row. */
export async function removeRow<T extends RowTable>(tx: Tx, { table }: Rows<T>, row: RowOf<T>): Promise<void> {
  const remove = prepared<unknown, Tx>(
    tx,
    `remove|${getTableName(table)}`,
    handle => handle.delete(table).where(eq(table.id, sql.placeholder('id'))) as never,
  )
  await remove.execute({ id: row.id })
}

type ViewOf<Row, View> = (row: Row) => View | Promise<View>

/** What a change did to a row, for `change`. @param before null if the row is new; the same object as `after` if nothing changed */
export async function changedRow<Row extends { id: string }, View extends object>(
  rows: Pick<Rows, 'type' | 'label'>,
  before: Row | null,
  after: Row,
  view: ViewOf<Row, View>,
): Promise<ChangeResult<View>> {
  const result = await view(after)
  const named = targetOf(rows, before ?? after)
  if (before === after) return { result, target: named, unchanged: true }
  return { result, target: named, before: before && (await view(before)), after: result }
}

/** Deletes a row. @throws Problem 404, 412 */
export const deleteRow = <T extends RowTable>(
  ctx: Ctx,
  action: AuditAction,
  rows: Rows<T>,
  id: string,
  view: (row: RowOf<T>, tx: Tx) => object | Promise<object>,
): Promise<void> =>
  change(ctx, action, async tx => {
    const row = await lockRow(tx, ctx, rows, id)
    await removeRow(tx, rows, row)
    return { result: undefined, target: targetOf(rows, row as { id: string }), before: await view(row, tx) }
  })

/** Reports a duplicate name as such. @throws Problem 409 `already_exists` */
export async function uniqueName<R>(rows: Pick<Rows, 'one'>, name: string, fn: () => Promise<R>): Promise<R> {
  const { detail, extras } = nameTaken(rows, name)
  return await refuseDuplicate(detail, fn, extras.errors)
}

/** The problem of a name that another row has. */
export const nameTaken = ({ one }: Pick<Rows, 'one'>, name: string): Problem =>
  new Problem('already_exists', `${one[0]!.toUpperCase()}${one.slice(1)} named ${JSON.stringify(name)} already exists.`, {
    errors: [{ pointer: '#/name', code: 'already_exists', detail: 'must be unique within the workspace.' }],
  })

/** Reports a violation of a unique index with this text. @throws Problem 409 `already_exists` */
export async function refuseDuplicate<R>(detail: string, fn: () => Promise<R>, errors?: FieldProblem[]): Promise<R> {
  try {
    return await fn()
  } catch (error) {
    if (violation(error) === 'unique') throw new Problem('already_exists', detail, errors && { errors })
    throw error
  }
}

type IdTable = SQLiteTable & { id: SQLiteColumn }

// Keeps transactions short: each blocks all other writes of the process.
const rowsPerBatch = 500

/** Deletes all rows that meet a condition, in short transactions. @param order in which they are deleted, to use an index */
export async function pruneRows(hub: Hub, table: IdTable, condition: SQL | undefined, ...order: SQLiteColumn[]): Promise<void> {
  while ((await pruneBatch(hub, table, condition, ...order)) === rowsPerBatch) continue
}

/** Deletes a batch of the rows that meet a condition. Returns how many. */
export const pruneBatch = (hub: Hub, table: IdTable, condition: SQL | undefined, ...order: SQLiteColumn[]): Promise<number> =>
  record(hub, async tx => ({ result: (await deleteBatch(tx, table, condition, ...order)).length }))

/** Like `pruneBatch`, within a transaction. Returns the ids. */
export async function deleteBatch(
  tx: Tx,
  table: IdTable,
  condition: SQL | undefined,
  ...order: SQLiteColumn[]
): Promise<string[]> {
  const old = await tx
    .select({ id: table.id })
    .from(table)
    .where(condition)
    .orderBy(...order)
    .limit(rowsPerBatch)
  const ids = old.map(row => row.id as string)
  if (ids.length > 0) await tx.delete(table).where(inArray(table.id, ids))
  return ids
}
