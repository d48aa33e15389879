import { and, asc, desc, eq, getTableColumns, getTableName, sql, type SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Ctx } from './ctx'
import { countRows } from './db/counts'
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

/** Reads the rows of a page, and one more. @param shape identifies the SQL text, which depends only on which parameters are present */
export async function pageRows<Row>(selection: Selection, shape: string, limit: number): Promise<Row[]> {
  const { listing, order, access, ctx } = selection
  const { values, bind } = boundValues(selection)
  values.limit = limit + 1
  const parts = (access.each?.values ?? [undefined]).map(value => ({
    found: foundRows(selection, bind, value),
    checked: checkedRows(selection, bind),
  }))
  const statement = prepared(ctx.hub.read, `list|${shape}`, read => {
    const name = getTableName(listing.table)
    // Conditions on the rows found may need any column.
    const isPlain = parts.length === 1 && !parts[0]!.checked
    const columns = isPlain ? columnsOf(listing, order) : getTableColumns(listing.table)
    const inOrder = order.map(one => (one.descending ? desc(one.column) : asc(one.column)))
    const queries = parts.map(({ found, checked }) => {
      const rows = rowsOf(read, listing, columns)
        .where(found)
        .orderBy(...inOrder)
      if (!checked) return rows.limit(sql.placeholder('limit'))
      // Under the name of the table, so that the conditions fit. The rows stay in the order of the index.
      const examined = rows.limit(maxExamined).as(name) as never as SQLiteTable
      return read.select(columns).from(examined).where(checked).limit(sql.placeholder('limit'))
    })
    if (queries.length === 1) return queries[0]!
    const [first, ...others] = queries.map(one => read.select(columns).from(one.as(name) as never as SQLiteTable))
    const union = others.reduce((all, one) => all.unionAll(one as never) as never, first!)
    return read
      .select(columns)
      .from(union.as(name) as never as SQLiteTable)
      .orderBy(...inOrder)
      .limit(sql.placeholder('limit'))
  })
  return (await statement.execute(values)) as Row[]
}

/** The last row examined for a page that isn't full, if there are more rows; null if the list has ended. */
export async function lastExamined<Row>(selection: Selection, shape: string): Promise<Row | null> {
  const { listing, order, ctx } = selection
  const { values, bind } = boundValues(selection)
  if (!checkedRows(selection, bind)) return null
  const found = foundRows(selection, bind)
  const statement = prepared(ctx.hub.read, `list-end|${shape}`, read =>
    rowsOf(read, listing, columnsOf(listing, order))
      .where(found)
      .orderBy(...order.map(one => (one.descending ? desc(one.column) : asc(one.column))))
      .limit(1)
      .offset(maxExamined - 1),
  )
  const [row] = (await statement.execute(values)) as Row[]
  return row ?? null
}

/** Counts the rows, or those among the first rows if they have to be checked. */
export async function countSelected(selection: Selection): Promise<number> {
  const { read } = selection.ctx.hub
  const { listing, owner } = selection
  const bind: Bind = value => sql`${value}`
  const counted = { ...selection, after: null, owner }
  const found = rowsOf(read, listing, getTableColumns(listing.table)).where(foundRows(counted, bind, undefined, sql`${owner}`))
  const checked = checkedRows(counted, bind, sql`${owner}`)
  if (!checked) return await countRows(read, found)
  const examined = found.limit(maxExamined).as(getTableName(listing.table)) as never as SQLiteTable
  return await countRows(
    read,
    read
      .select({ any: Object.values(getTableColumns(listing.table))[0]! })
      .from(examined)
      .where(checked),
  )
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
