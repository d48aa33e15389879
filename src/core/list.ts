import { Type, type TObject, type TSchema } from '@sinclair/typebox'
import { and, asc, desc, eq, getTableColumns, sql, type SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Ctx } from './ctx'
import { sha256Hex } from './crypto'
import { countRows } from './db/counts'
import { prepared } from './db/prepared'
import type { Reader } from './db/transaction'
import { accessCondition } from './resource-access'
import { InvalidCursor, openCursor, sealCursor } from './page'
import { Problem } from './problem'
import { propertyOf } from './property-name'
import { invalidParameter } from './query'
import type { Page } from './shapes'
import { parameterName, Words } from './shapes'

/** A filter parameter: its schema and its condition. `bind` binds a value as a parameter of the prepared query. */
export interface Filter {
  schema: TSchema
  where(value: unknown, bind: (value: unknown) => SQL, now: number): SQL
  /** Identifies the SQL text of the condition if it depends on the value; not needed for enums. */
  variant?(value: unknown): string
}

/** Defines how a resource is listed: rows, filters and sort orders. */
export interface Listing<Row> {
  /** Unique name, part of the names of its prepared queries. */
  name: string
  table: SQLiteTable & Record<string, SQLiteColumn | unknown>
  /** Another table with one row for each row of `table`, whose index is scanned instead; `on` joins the two. */
  through?: { table: SQLiteTable; on: SQL }
  /** The columns that are read, in addition to those of the sort order; all by default. */
  columns?: Record<string, SQLiteColumn>
  /** Unique for each owner; the default sort order. */
  id: SQLiteColumn
  idOf(row: Row): string | number
  /** The column with the workspace or the parent resource. Null lists all rows. */
  owner: SQLiteColumn | null
  /** Additional condition on all rows. */
  condition?: SQL | undefined
  /** The column with the resource that decides whether a token restricted to resources sees the row; defaults to the row's id. */
  accessColumn?: SQLiteColumn
  filters: Record<string, Filter>
  /** Sort orders by name, in addition to `id`. Their columns must not be nullable. */
  sorts: Record<string, { column: SQLiteColumn; read(row: Row): string | number }>
  /** For example `-id`: newest first. */
  defaultSort: string
  /** Maximum page size. */
  maxItems?: number
}

type Sorts = readonly string[] | Readonly<Record<string, SQLiteColumn>>
type ListedTable = SQLiteTable & { id?: SQLiteColumn; workspaceId?: SQLiteColumn }
// A table without an ID or a workspace has to declare by which columns its rows are identified and owned.
type ListingOptions<T extends ListedTable> = { sorts: Sorts } & Partial<Omit<Listing<T['$inferSelect']>, 'sorts'>> &
  Pick<
    Listing<T['$inferSelect']>,
    (T extends { id: SQLiteColumn } ? never : 'id' | 'idOf') | (T extends { workspaceId: SQLiteColumn } ? never : 'owner')
  >

/**
 * The listing of the rows of a workspace, newest first.
 * @param options `sorts` are fields, with columns that are not nullable: their names, or their columns by name
 */
export const listingOf = <T extends ListedTable>(
  name: string,
  table: T,
  { sorts, ...options }: ListingOptions<T>,
): Listing<T['$inferSelect']> => ({
  name,
  table: table as never,
  id: table.id!,
  idOf: row => row.id as string,
  owner: table.workspaceId!,
  filters: {},
  defaultSort: '-id',
  sorts: sortsOf(table, sorts),
  ...options,
})

function sortsOf<T extends ListedTable>(table: T, sorts: Sorts): Listing<T['$inferSelect']>['sorts'] {
  const columns: Record<string, SQLiteColumn> = getTableColumns(table)
  const byField = Array.isArray(sorts) ? Object.fromEntries(sorts.map(field => [field, columns[propertyOf(field)]!])) : sorts
  const properties = new Map(Object.entries(columns).map(([property, column]) => [column, property as keyof T['$inferSelect']]))
  return Object.fromEntries(
    Object.entries(byField as Record<string, SQLiteColumn>).map(([field, column]) => [
      field,
      { column, read: row => row[properties.get(column)!] as string | number },
    ]),
  )
}

const defaultMaxItems = 100

/** The query parameters for the pages of a list. */
export const pageParameters = (maxItems = defaultMaxItems, initial = 25) => ({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxItems,
      default: initial,
      description: 'Page size.',
      ...(maxItems === defaultMaxItems && { [parameterName]: 'PageLimit' }),
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'Cursor of the page to return: `next_cursor` of the previous page.',
      [parameterName]: 'PageCursor',
    }),
  ),
})

/** The query parameters of a list operation. */
export function listQuery(listing: Pick<Listing<never>, 'filters' | 'sorts' | 'maxItems' | 'defaultSort'>): TObject {
  const words = ['id', ...Object.keys(listing.sorts)].flatMap(word => [word, `-${word}`])
  return Type.Object(
    {
      ...pageParameters(listing.maxItems),
      sort: Type.Optional(
        Type.Array(Words(words), {
          minItems: 1,
          maxItems: 3,
          description: `Sort order, most significant field first. Prefix a field with a minus sign for descending order. Default: \`${listing.defaultSort}\`.`,
        }),
      ),
      include: Type.Optional(
        Words(['total'], { description: 'Includes `pagination.total`, counted up to 10,000.', [parameterName]: 'IncludeTotal' }),
      ),
      ...Object.fromEntries(Object.entries(listing.filters).map(([name, filter]) => [name, Type.Optional(filter.schema)])),
    },
    { additionalProperties: false },
  )
}

/**
 * Returns a page of items of the caller's workspace, or of the parent resource `owner`, to which the caller must have access.
 * @throws Problem 400 `invalid_cursor`
 */
export async function listPage<Row, View>(
  ctx: Ctx,
  listing: Listing<Row>,
  query: Record<string, unknown>,
  view: (row: Row) => View | Promise<View>,
  owner: string = ctx.workspaceId,
): Promise<Page<View>> {
  const limit = (query.limit as number | undefined) ?? 25
  const order = sortColumns(listing, (query.sort as string[] | undefined) ?? [listing.defaultSort])
  const filters = Object.keys(listing.filters).filter(name => query[name] !== undefined)
  const filterHash = sha256Hex(
    JSON.stringify([listing.name, owner, order.map(one => one.word), filters.map(name => [name, query[name]])]),
  ).slice(0, 16)
  const after = query.cursor === undefined ? null : cursorValues(ctx, query.cursor as string, filterHash, order.length)

  // The SQL text depends only on which parameters are present; their values are bound when the query runs.
  const values: Record<string, unknown> = { owner, limit: limit + 1 }
  const bind = (value: unknown): SQL => {
    const name = `v${Object.keys(values).length}`
    values[name] = value
    return sql`${sql.placeholder(name)}`
  }
  const now = ctx.hub.clock.now()
  const narrowed = narrowingColumn(ctx, listing, owner)
  const where = and(
    listing.through?.on,
    listing.owner ? eq(listing.owner, sql.placeholder('owner')) : undefined,
    listing.condition,
    narrowed ? sql`${narrowed} in (${sql.join([...ctx.resourceIds!].map(bind), sql`, `)})` : undefined,
    // Put the cursor bound before the filters: SQLite uses only the first lower bound of an index.
    after ? isAfter(order, after, bind) : undefined,
    ...filters.map(name => listing.filters[name]!.where(query[name], bind, now)),
  )
  const shape = [
    listing.name,
    order.map(one => one.word),
    filters.map(name => [name, variantOf(listing.filters[name]!, query[name])]),
    !!after,
    narrowed ? ctx.resourceIds!.size : 0,
  ].join('|')
  const statement = prepared(ctx.hub.read, `list|${shape}`, read =>
    rowsOf(read, listing, columnsOf(listing, order))
      .where(where)
      .orderBy(...order.map(one => (one.descending ? desc(one.column) : asc(one.column))))
      .limit(sql.placeholder('limit')),
  )
  const rows = (await statement.execute(values)) as Row[]

  const more = rows.length > limit
  if (more) rows.pop()
  const last = rows.at(-1)
  const next = more && last ? sealCursor(cursorKey(ctx), { values: order.map(one => one.read(last)), filterHash }) : null
  const views = rows.map(view)
  const data = views.some(one => one instanceof Promise) ? await Promise.all(views) : (views as View[])
  const page: Page<View> = { data, pagination: { has_more: more, next_cursor: next } }
  if (query.include === 'total') page.pagination.total = await countAll(ctx, listing, query, filters, owner)
  return page
}

function columnsOf(
  { table, columns }: Pick<Listing<never>, 'table' | 'columns'>,
  order: readonly { column: SQLiteColumn }[],
): Record<string, SQLiteColumn> {
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

/**
 * The column to check for a token restricted to resources; null if the caller has full access or access to `owner` was checked.
 */
const narrowingColumn = <Row>(ctx: Ctx, listing: Listing<Row>, owner: string): SQLiteColumn | null =>
  ctx.resourceIds === null || owner !== ctx.workspaceId ? null : (listing.accessColumn ?? listing.id)

const variantOf = (filter: Filter, value: unknown): string =>
  filter.variant?.(value) ?? (Array.isArray(value) ? value.join('+') : '')

export interface SortColumn<Row> {
  word: string
  column: SQLiteColumn
  descending: boolean
  read(row: Row): string | number
}

/** The requested order with the id as last column, so that the order is unique. */
export function sortColumns<Row>(listing: Listing<Row>, words: string[]): SortColumn<Row>[] {
  const order = words.map(word => {
    const down = word.startsWith('-')
    const name = down ? word.slice(1) : word
    const definition = name === 'id' ? { column: listing.id, read: listing.idOf } : listing.sorts[name]!
    return { word, descending: down, ...definition }
  })
  if (new Set(order.map(one => one.column)).size < order.length) throw invalidParameter('sort', 'must not contain duplicates.')
  if (!order.some(one => one.column === listing.id)) {
    const down = order[0]!.descending
    order.push({ word: down ? '-id' : 'id', descending: down, column: listing.id, read: listing.idOf })
  }
  return order
}

/** Condition for rows after the cursor: equal in the first columns and greater in the next one. */
function isAfter(order: SortColumn<never>[], values: (string | number)[], bind: (value: unknown) => SQL): SQL {
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

async function countAll<Row>(
  ctx: Ctx,
  listing: Listing<Row>,
  query: Record<string, unknown>,
  filters: string[],
  owner: string,
): Promise<number> {
  const now = ctx.hub.clock.now()
  const bind = (value: unknown): SQL => sql`${value}`
  const narrowed = narrowingColumn(ctx, listing, owner)
  const rows = rowsOf(ctx.hub.read, listing, { id: listing.id }).where(
    and(
      listing.through?.on,
      listing.owner ? eq(listing.owner, owner) : undefined,
      listing.condition,
      narrowed ? accessCondition(ctx, narrowed) : undefined,
      ...filters.map(name => listing.filters[name]!.where(query[name], bind, now)),
    ),
  )
  return await countRows(ctx.hub.read, rows)
}

/** Decodes a cursor. @throws Problem 400 `invalid_cursor` */
export function cursorValues(ctx: Ctx, cursor: string, filterHash: string, length: number): (string | number)[] {
  try {
    const values = openCursor(cursorKey(ctx), cursor, filterHash)
    if (values.length === length) return values as (string | number)[]
  } catch (error) {
    if (!(error instanceof InvalidCursor)) throw error
  }
  throw new Problem(
    'invalid_cursor',
    'The cursor is invalid, or belongs to another list, filter, or sort order. Request the first page without a cursor.',
    {
      errors: [{ pointer: '#/query/cursor', code: 'invalid_cursor', detail: 'does not belong to this list.' }],
    },
  )
}

const cursorKeys = new WeakMap<object, Uint8Array>()
export function cursorKey(ctx: Ctx): Uint8Array {
  let key = cursorKeys.get(ctx.hub)
  if (!key) cursorKeys.set(ctx.hub, (key = ctx.hub.keys.derive('cursor')))
  return key
}

/** `?status=a,b`: matches any of the values. */
export const wordsFilter = (column: SQLiteColumn, words: readonly string[], description: string): Filter => ({
  schema: Type.Array(Words(words), { minItems: 1, maxItems: words.length, description }),
  where: (value, bind) => sql`${column} in (${sql.join((value as string[]).map(bind), sql`, `)})`,
})

/** `?id=a,b`: at most 100 ids. */
export const idsFilter = (column: SQLiteColumn): Filter => ({
  schema: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    minItems: 1,
    maxItems: 100,
    description: 'Only items with these IDs.',
  }),
  where: (value, bind) => sql`${column} in (${sql.join((value as string[]).map(bind), sql`, `)})`,
  variant: value => String((value as string[]).length),
})

/** Matches rows whose column is true, or false. */
export const flagFilter = (column: SQLiteColumn, description: string): Filter => ({
  schema: Type.Boolean({ description }),
  where: (value, bind) => sql`${column} = ${bind(value)}`,
})

/** Matches the exact text. */
export const textFilter = (column: SQLiteColumn, description: string, options: { maxLength?: number } = {}): Filter => ({
  schema: Type.String({ maxLength: options.maxLength ?? 200, description }),
  where: (value, bind) => sql`${column} = ${bind(value)}`,
})

/** Matches rows whose column, a JSON array of words, contains the value. */
export const containsFilter = (column: SQLiteColumn, schema: TSchema): Filter => ({
  schema,
  where: (value, bind) => sql`${column} like ${bind(`%"${(value as string).replaceAll('_', '\\_')}"%`)} escape '\\'`,
})

/** `?created_at[gte]=…`: one filter for each comparison, with RFC 3339 times. */
export function timeFilters(field: string, column: SQLiteColumn): Record<string, Filter> {
  const signs = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` } as const
  const words = { gt: 'after', gte: 'at or after', lt: 'before', lte: 'at or before' } as const
  const names = { gt: 'After', gte: 'From', lt: 'Before', lte: 'Until' } as const
  const property = propertyOf(field)
  return Object.fromEntries(
    Object.entries(signs).map(([name, sign]) => [
      `${field}[${name}]`,
      {
        schema: Type.String({
          format: 'date-time',
          description: `Only items with \`${field}\` ${words[name as keyof typeof words]} this time.`,
          [parameterName]: property[0]!.toUpperCase() + property.slice(1) + names[name as keyof typeof names],
        }),
        where: (value: unknown, bind: (value: unknown) => SQL) => sql`${column} ${sign} ${bind(Date.parse(value as string))}`,
      } satisfies Filter,
    ]),
  )
}

/** Case-insensitive substring search in any of the columns. */
export const searchFilter = (columns: SQLiteColumn[], description: string): Filter => ({
  schema: Type.String({ minLength: 1, maxLength: 100, description }),
  where(value, bind) {
    const pattern = `%${(value as string).toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
    return sql`(${sql.join(
      columns.map(column => sql`lower(${column}) like ${bind(pattern)} escape '\\'`),
      sql` or `,
    )})`
  },
})
