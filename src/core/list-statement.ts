import {
  and,
  asc,
  Column,
  desc,
  eq,
  getTableColumns,
  getTableName,
  is,
  Param,
  Placeholder,
  SQL,
  sql,
  StringChunk,
} from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Ctx } from './ctx'
import { countRows } from './db/counts'
import { inOrderOfSubquery } from './db/dialect'
import { prepared } from './db/prepared'
import type { Reader } from './db/transaction'
import type { Listing, SortColumn } from './listing'
import { maxExamined, type Access } from './list-access'

/** What a page, or a count, selects. */
export interface Selection {
  ctx: Ctx
  listing: Listing<never>
  query: Record<string, unknown>
  owner: string
  order: readonly SortColumn<never>[]
  access: Access
  /** The values of the cursor. */
  after: (string | number)[] | null
  /** The column to check for a token restricted to resources. */
  narrowed: SQLiteColumn | null
}

type Bind = (value: unknown) => SQL

/** The rows found for a page, and the last row examined if the page isn't full and the list continues after it. */
interface Found<Row> {
  /** Up to one more than the limit. */
  rows: Row[]
  last: Row | null
}

/**
 * Reads the rows of a page, and one more, in one statement, so that a concurrent change can't move the last row examined.
 * @param shape identifies the SQL text, which depends only on which parameters are present
 */
export async function pageRows<Row>(selection: Selection, shape: string, limit: number): Promise<Found<Row>> {
  const { listing, order, access, ctx } = selection
  const { values, bind } = boundValues(selection)
  const checked = checkedRows(selection, bind)
  const parts = (access.each?.values ?? [undefined]).map(value => foundRows(selection, bind, value))
  const again = checked && foundRows(selection, bind)
  // The part with the last row examined, of at most two rows, runs only if the page has fewer rows than this.
  values.limit = limit + (checked ? 2 : 1)
  // The number of values is part of the name, so that no statement ever runs with fewer or more than it was built for.
  const statement = prepared(ctx.hub.read, `list|${shape}|${Object.keys(values).length}`, read => {
    const name = getTableName(listing.table)
    const columns = columnsOf(listing, order)
    const inOrder = inOrderOf(order)
    if (checked) {
      const narrow = columnsToCheck(listing, order, checked)
      const examined = rowsOf(read, listing, narrow ?? getTableColumns(listing.table))
        .where(parts[0])
        .orderBy(...inOrder)
        .limit(maxExamined)
      const lastIn = (fields: Record<string, SQLiteColumn>) =>
        rowsOf(read, listing, fields)
          .where(again)
          .orderBy(...inOrder)
          .limit(2)
          .offset(maxExamined - 1)
      // With the index alone, if possible.
      const last = narrow ? wholeRows(read, listing, columns, lastIn({ id: listing.id }), inOrder) : lastIn(columns)
      const wrapped = (query: { as(alias: string): unknown }, isLast: boolean) =>
        read
          // Under the name of the table, so that the conditions fit.
          .select({ ...columns, isLast: sql<number>`${sql.raw(isLast ? '1' : '0')}`.as('is_last') })
          .from(asTable(query.as(name)))
      const matchingIn = (fields: Record<string, SQLiteColumn>) =>
        inOrderOfSubquery(
          read
            .select(fields)
            .from(asTable(examined.as(name)))
            .where(checked),
          inOrderOf(ownColumns(listing, order)),
        ).limit(sql.placeholder('limit'))
      const matching = narrow ? wholeRows(read, listing, columns, matchingIn({ id: listing.id }), inOrder) : matchingIn(columns)
      return wrapped(matching, false)
        .unionAll(wrapped(last, true) as never)
        .limit(sql.placeholder('limit'))
    }
    const queries = parts.map(found =>
      rowsOf(read, listing, columns)
        .where(found)
        .orderBy(...inOrder)
        .limit(sql.placeholder('limit')),
    )
    if (queries.length === 1) return queries[0]! as never
    const [first, ...others] = queries.map(one => read.select(columns).from(asTable(one.as(name))))
    const union = others.reduce((all, one) => all.unionAll(one as never) as never, first!)
    return read
      .select(columns)
      .from(asTable(union.as(name)))
      .orderBy(...inOrder)
      .limit(sql.placeholder('limit')) as never
  })
  const all = (await statement.execute(values)) as (Row & { isLast?: number })[]
  const rows = all.filter(row => !row.isLast)
  // With only one row in this part, the list ends there.
  const lasts = all.slice(rows.length)
  return { rows, last: lasts.length > 1 ? lasts[0]! : null }
}

/** Counts the rows, or those among the first rows if they have to be checked. */
export async function countSelected(selection: Selection): Promise<number> {
  const { read } = selection.ctx.hub
  const { listing, owner, order } = selection
  const bind: Bind = value => sql`${value}`
  const counted = { ...selection, after: null, owner }
  const found = rowsOf(read, listing, getTableColumns(listing.table)).where(foundRows(counted, bind, undefined, sql`${owner}`))
  const checked = checkedRows(counted, bind, sql`${owner}`)
  if (!checked) return await countRows(read, found)
  // The same rows as those examined for the pages.
  const examined = asTable(
    found
      .orderBy(...inOrderOf(order))
      .limit(maxExamined)
      .as(getTableName(listing.table)),
  )
  return await countRows(
    read,
    read
      .select({ any: Object.values(getTableColumns(listing.table))[0]! })
      .from(examined)
      .where(checked),
  )
}

/**
 * The columns that are needed to examine rows: those of the conditions and of the order. Reading 10,000 whole rows would take much
 * longer. Null if the rows can't be read by their id afterwards, or if a condition may need any column.
 */
function columnsToCheck(
  { table, id, through }: Listing<never>,
  order: readonly SortColumn<never>[],
  checked: SQL,
): Record<string, SQLiteColumn> | null {
  const used = columnsIn(checked)
  if (!id.primary || through || !used) return null
  const needed = new Set<unknown>([id, ...order.map(one => one.column), ...used])
  return Object.fromEntries(Object.entries(getTableColumns(table)).filter(([, column]) => needed.has(column)))
}

/** The columns in a condition. Null if it can't be looked into. */
function columnsIn(condition: SQL): Column[] | null {
  const columns: Column[] = []
  for (const chunk of condition.queryChunks) {
    if (is(chunk, Column)) columns.push(chunk)
    else if (is(chunk, SQL)) {
      const inner = columnsIn(chunk)
      if (!inner) return null
      columns.push(...inner)
    } else if (!is(chunk, StringChunk) && !is(chunk, Placeholder) && !is(chunk, Param) && typeof chunk === 'object') return null
  }
  return columns
}

/** The rows with the ids of a query, in the order of the list. */
function wholeRows(
  read: Reader,
  { table, id }: Listing<never>,
  columns: Record<string, SQLiteColumn>,
  ids: { as(alias: string): unknown },
  inOrder: SQL[],
) {
  const matching = ids.as('matching') as { id: SQLiteColumn }
  const rows = read.select(columns).from(asTable(matching)).crossJoin(table).where(eq(id, matching.id))
  return inOrderOfSubquery(rows, inOrder)
}

function boundValues({ owner }: Selection): { values: Record<string, unknown>; bind: Bind } {
  const values: Record<string, unknown> = { owner }
  const bind = (value: unknown): SQL => {
    const name = `v${Object.keys(values).length}`
    values[name] = value
    return sql`${sql.placeholder(name)}`
  }
  return { values, bind }
}

/** A subquery, to read from it. Its columns depend on the list, so the types of drizzle can’t describe it. */
const asTable = (subquery: unknown): SQLiteTable => subquery as SQLiteTable

const inOrderOf = (order: readonly SortColumn<never>[]): SQL[] =>
  order.map(one => (one.descending ? desc(one.column) : asc(one.column)))

/** The order in columns of the table. Of the table that the rows were found through, an order contains only the reference to the id. */
const ownColumns = ({ table }: Listing<never>, order: readonly SortColumn<never>[]): SortColumn<never>[] => {
  const { id }: Record<string, SQLiteColumn> = getTableColumns(table)
  return order.map(one => (one.column.table === table ? one : { ...one, column: id! }))
}

/** The condition that the index answers. @param only one of several values of a filter */
function foundRows(
  selection: Selection,
  bind: Bind,
  only?: unknown,
  owner: SQL = sql`${sql.placeholder('owner')}`,
): SQL | undefined {
  const { ctx, listing, query, order, access, after, narrowed } = selection
  const now = ctx.hub.clock.now()
  return and(
    listing.through?.on,
    listing.owner && !access.checksOwner ? eq(listing.owner, owner) : undefined,
    narrowed && isFew(selection) ? isAccessible(ctx, narrowed, bind) : undefined,
    // Put the cursor bound before the filters: SQLite uses only the first lower bound of an index.
    after ? isAfter(order, after, bind) : undefined,
    ...access.found.map(name =>
      only !== undefined && name === access.each!.name
        ? sql`${access.each!.column} = ${bind(only)}`
        : listing.filters[name]!.where(query[name], bind, now),
    ),
  )
}

/** What is checked for each row found. */
function checkedRows(selection: Selection, bind: Bind, owner: SQL = sql`${sql.placeholder('owner')}`): SQL | undefined {
  const { ctx, listing, query, access, narrowed } = selection
  const now = ctx.hub.clock.now()
  return and(
    listing.condition,
    listing.owner && access.checksOwner ? eq(listing.owner, owner) : undefined,
    narrowed && !isFew(selection) ? isAccessible(ctx, narrowed, bind) : undefined,
    ...access.checked.map(name => listing.filters[name]!.where(query[name], bind, now)),
  )
}

/** Whether the ids of the resources that a token is restricted to find the rows. */
const isFew = ({ listing, narrowed }: Selection): boolean => narrowed === listing.id || listing.through !== undefined

const isAccessible = (ctx: Ctx, column: SQLiteColumn, bind: Bind): SQL =>
  sql`${column} in (${sql.join([...ctx.resourceIds!].map(bind), sql`, `)})`

function columnsOf({ table, columns }: Listing<never>, order: readonly SortColumn<never>[]): Record<string, SQLiteColumn> {
  const all: Record<string, SQLiteColumn> = getTableColumns(table)
  if (!columns) return all
  const sorted = Object.entries(all).filter(([, column]) => order.some(one => one.column === column))
  return { ...columns, ...Object.fromEntries(sorted) }
}

/** Uses a cross join to fix the join order: SQLite may reorder a plain join. */
function rowsOf(
  read: Reader,
  { table, through }: Pick<Listing<never>, 'table' | 'through'>,
  fields: Record<string, SQLiteColumn>,
) {
  const selected = read.select(fields)
  return through ? selected.from(through.table).crossJoin(table) : selected.from(table)
}

/** Condition for rows after the cursor: equal in the first columns and greater in the next one. */
function isAfter(order: readonly SortColumn<never>[], values: (string | number)[], bind: (value: unknown) => SQL): SQL {
  if (new Set(order.map(one => one.descending)).size === 1) {
    // Columns in the same direction need only a tuple comparison, which can use an index.
    const columns = sql.join(
      order.map(one => sql`${one.column}`),
      sql`, `,
    )
    const bounds = sql.join(values.map(bind), sql`, `)
    return order[0]!.descending ? sql`(${columns}) < (${bounds})` : sql`(${columns}) > (${bounds})`
  }
  const cases = order.map((one, depth) =>
    sql.join(
      [
        ...order.slice(0, depth).map((earlier, index) => sql`${earlier.column} = ${bind(values[index])}`),
        one.descending ? sql`${one.column} < ${bind(values[depth])}` : sql`${one.column} > ${bind(values[depth])}`,
      ],
      sql` and `,
    ),
  )
  return sql`(${sql.join(
    cases.map(one => sql`(${one})`),
    sql` or `,
  )})`
}
