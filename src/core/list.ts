import { Type, type TObject, type TSchema } from '@sinclair/typebox'
import { and, asc, desc, eq, getTableColumns, sql, type SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Ctx } from './ctx'
import { sha256Hex } from './crypto'
import { countRows } from './db/counts'
import { prepared } from './db/prepared'
import { readRows } from './db/rows'
import type { Reader } from './db/transaction'
import { reachable } from './narrowing'
import { InvalidCursor, openCursor, sealCursor } from './page'
import { Problem } from './problem'
import { badParameter } from './query'
import type { Page } from './shapes'
import { Words } from './shapes'

/** A filter parameter: its schema, and the condition it puts on the rows. `value(name, v)` places a value in the prepared query. */
export interface Filter {
  schema: TSchema
  where(value: unknown, place: (value: unknown) => SQL, now: number): SQL
  /** Names the text of the condition where it depends on the value; a list of words names itself. */
  variant?(value: unknown): string
}

/** How a resource is listed: which rows, which filters, which orders. */
export interface Listing<Row> {
  /** Names the prepared queries; unique to the listing. */
  name: string
  table: SQLiteTable & Record<string, SQLiteColumn | unknown>
  /** Where the rows are found instead, one for each: its index is walked, and `on` leads from it to the row. */
  through?: { table: SQLiteTable; on: SQL }
  /** What tells the rows of one owner apart and gives their default order. */
  id: SQLiteColumn
  idOf(row: Row): string | number
  /** Whose rows they are: the column of the workspace, or of the resource they belong to. Null lists the rows of all. */
  owner: SQLiteColumn | null
  /** What every row must fit beside that. */
  condition?: SQL | undefined
  /** The resource a row belongs to, by which a narrowed token sees it or not; the row's own id when absent. */
  narrowedBy?: SQLiteColumn
  filters: Record<string, Filter>
  /** Orders by name; their columns are never null. `id` is always there. */
  sorts: Record<string, { column: SQLiteColumn; read(row: Row): string | number }>
  /** Such as `-id`, newest first. */
  defaultSort: string
  /** Most items a page may have. */
  mostItems?: number
}

const most = 100

/** The query parameters of a listing, for its route. */
export function listQuery(listing: Pick<Listing<never>, 'filters' | 'sorts' | 'mostItems' | 'defaultSort'>): TObject {
  const words = ['id', ...Object.keys(listing.sorts)].flatMap(word => [word, `-${word}`])
  return Type.Object(
    {
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: listing.mostItems ?? most, default: 25, description: 'Items a page.' }),
      ),
      cursor: Type.Optional(Type.String({ maxLength: 1000, description: 'Where to go on: `next_cursor` of the page before.' })),
      sort: Type.Optional(
        Type.Array(Words(words), {
          minItems: 1,
          maxItems: 3,
          description: `Order, most significant first; a minus sign reverses. \`${listing.defaultSort}\` when absent.`,
        }),
      ),
      include: Type.Optional(Words(['total'], { description: 'Adds `pagination.total`, counted up to 10,000.' })),
      ...Object.fromEntries(Object.entries(listing.filters).map(([name, filter]) => [name, Type.Optional(filter.schema)])),
    },
    { additionalProperties: false },
  )
}

/**
 * One page of the caller's workspace, or of the resource `owner`, which the caller was found to own.
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
  const order = ordered(listing, (query.sort as string[] | undefined) ?? [listing.defaultSort])
  const filters = Object.keys(listing.filters).filter(name => query[name] !== undefined)
  const asked = sha256Hex(
    JSON.stringify([listing.name, owner, order.map(one => one.word), filters.map(name => [name, query[name]])]),
  ).slice(0, 16)
  const after = query.cursor === undefined ? null : cursorValues(ctx, query.cursor as string, asked, order.length)

  // The text of the query depends on which parameters are there; their values are placed at run time.
  const values: Record<string, unknown> = { owner, limit: limit + 1 }
  const place = (value: unknown): SQL => {
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
    narrowed ? sql`${narrowed} in (${sql.join([...ctx.resourceIds!].map(place), sql`, `)})` : undefined,
    // Of two lower bounds of an index SQLite takes the first, and walks from there: before a filter's own this one must be.
    after ? isAfter(order, after, place) : undefined,
    ...filters.map(name => listing.filters[name]!.where(query[name], place, now)),
  )
  const shape = [
    listing.name,
    order.map(one => one.word),
    filters.map(name => [name, variantOf(listing.filters[name]!, query[name])]),
    !!after,
    narrowed ? ctx.resourceIds!.size : 0,
  ].join('|')
  const statement = prepared(ctx.hub.read, `list|${shape}`, read =>
    rowsOf(read, listing, getTableColumns(listing.table))
      .where(where)
      .orderBy(...order.map(one => (one.down ? desc(one.column) : asc(one.column))))
      .limit(sql.placeholder('limit')),
  )
  const rows = await readRows<Row>(statement, listing.table, values)

  const more = rows.length > limit
  if (more) rows.pop()
  const last = rows.at(-1)
  const next = more && last ? sealCursor(cursorKey(ctx), { values: order.map(one => one.read(last)), filterHash: asked }) : null
  const views = rows.map(view)
  const data = views.some(one => one instanceof Promise) ? await Promise.all(views) : (views as View[])
  const page: Page<View> = { data, pagination: { has_more: more, next_cursor: next } }
  if (query.include === 'total') page.pagination.total = await countAll(ctx, listing, query, filters, owner)
  return page
}

/** In the order in which they are to be walked: of a plain join SQLite picks the order by guessing, of a cross join it keeps it. */
function rowsOf(
  read: Reader,
  { table, through }: Pick<Listing<never>, 'table' | 'through'>,
  fields: Record<string, SQLiteColumn>,
) {
  const selected = read.select(fields)
  return through ? selected.from(through.table).crossJoin(table) : selected.from(table)
}

/** By what a narrowed token's rows are told; null for a caller who reaches all, and for what belongs to a resource that was found. */
const narrowingColumn = <Row>(ctx: Ctx, listing: Listing<Row>, owner: string): SQLiteColumn | null =>
  ctx.resourceIds === null || owner !== ctx.workspaceId ? null : (listing.narrowedBy ?? listing.id)

const variantOf = (filter: Filter, value: unknown): string =>
  filter.variant?.(value) ?? (Array.isArray(value) ? value.join('+') : '')

export interface Ordered<Row> {
  word: string
  column: SQLiteColumn
  down: boolean
  read(row: Row): string | number
}

/** The asked order with the id as its last word, so that no two rows are equal in it. */
export function ordered<Row>(listing: Listing<Row>, words: string[]): Ordered<Row>[] {
  const order = words.map(word => {
    const down = word.startsWith('-')
    const name = down ? word.slice(1) : word
    const known = name === 'id' ? { column: listing.id, read: listing.idOf } : listing.sorts[name]!
    return { word, down, ...known }
  })
  if (new Set(order.map(one => one.column)).size < order.length) throw badParameter('sort', 'names a member twice.')
  if (!order.some(one => one.column === listing.id)) {
    const down = order[0]!.down
    order.push({ word: down ? '-id' : 'id', down, column: listing.id, read: listing.idOf })
  }
  return order
}

/** Rows behind the cursor: equal in the first members and beyond it in the next. */
function isAfter(order: Ordered<never>[], values: (string | number)[], place: (value: unknown) => SQL): SQL {
  if (new Set(order.map(one => one.down)).size === 1) {
    // One direction is one comparison of tuples, which an index answers directly.
    const columns = sql.join(
      order.map(one => sql`${one.column}`),
      sql`, `,
    )
    const bounds = sql.join(values.map(place), sql`, `)
    return order[0]!.down ? sql`(${columns}) < (${bounds})` : sql`(${columns}) > (${bounds})`
  }
  const cases = order.map((one, depth) =>
    sql.join(
      [
        ...order.slice(0, depth).map((earlier, place_) => sql`${earlier.column} = ${place(values[place_])}`),
        one.down ? sql`${one.column} < ${place(values[depth])}` : sql`${one.column} > ${place(values[depth])}`,
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
  const place = (value: unknown): SQL => sql`${value}`
  const narrowed = narrowingColumn(ctx, listing, owner)
  const rows = rowsOf(ctx.hub.read, listing, { id: listing.id }).where(
    and(
      listing.through?.on,
      listing.owner ? eq(listing.owner, owner) : undefined,
      listing.condition,
      narrowed ? reachable(ctx, narrowed) : undefined,
      ...filters.map(name => listing.filters[name]!.where(query[name], place, now)),
    ),
  )
  return await countRows(ctx.hub.read, rows)
}

/** Where a cursor points. @throws Problem 400 `invalid_cursor` */
export function cursorValues(ctx: Ctx, cursor: string, asked: string, length: number): (string | number)[] {
  try {
    const values = openCursor(cursorKey(ctx), cursor, asked)
    if (values.length === length) return values as (string | number)[]
  } catch (error) {
    if (!(error instanceof InvalidCursor)) throw error
  }
  throw new Problem(
    'invalid_cursor',
    'The cursor was altered, or made for another list, filter or order. Start again without one.',
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

/** `?status=a,b`: any of the words. */
export const wordsFilter = (column: SQLiteColumn, words: readonly string[], description: string): Filter => ({
  schema: Type.Array(Words(words), { minItems: 1, maxItems: words.length, description }),
  where: (value, place) => sql`${column} in (${sql.join((value as string[]).map(place), sql`, `)})`,
})

/** Those with these ids, at most a hundred. */
export const idsFilter = (column: SQLiteColumn): Filter => ({
  schema: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    minItems: 1,
    maxItems: 100,
    description: 'Only those with these ids.',
  }),
  where: (value, place) => sql`${column} in (${sql.join((value as string[]).map(place), sql`, `)})`,
  variant: value => String((value as string[]).length),
})

/** Exactly the text. */
export const textFilter = (column: SQLiteColumn, description: string, options: { maxLength?: number } = {}): Filter => ({
  schema: Type.String({ maxLength: options.maxLength ?? 200, description }),
  where: (value, place) => sql`${column} = ${place(value)}`,
})

/** Those in whose column, a JSON array of words, this one is. */
export const heldFilter = (column: SQLiteColumn, schema: TSchema): Filter => ({
  schema,
  where: (value, place) => sql`${column} like ${place(`%"${(value as string).replaceAll('_', '\\_')}"%`)} escape '\\'`,
})

/** `?created_at[gte]=…`: one filter a comparison, for times given as RFC 3339. */
export function timeFilters(member: string, column: SQLiteColumn): Record<string, Filter> {
  const signs = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` } as const
  const words = { gt: 'after', gte: 'at or after', lt: 'before', lte: 'at or before' } as const
  return Object.fromEntries(
    Object.entries(signs).map(([name, sign]) => [
      `${member}[${name}]`,
      {
        schema: Type.String({
          format: 'date-time',
          description: `Only those whose \`${member}\` is ${words[name as keyof typeof words]} this time.`,
        }),
        where: (value: unknown, place: (value: unknown) => SQL) => sql`${column} ${sign} ${place(Date.parse(value as string))}`,
      } satisfies Filter,
    ]),
  )
}

/** Case-blind search for a piece of any of the columns. */
export const searchFilter = (columns: SQLiteColumn[], description: string): Filter => ({
  schema: Type.String({ minLength: 1, maxLength: 100, description }),
  where(value, place) {
    const pattern = `%${(value as string).toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
    return sql`(${sql.join(
      columns.map(column => sql`lower(${column}) like ${place(pattern)} escape '\\'`),
      sql` or `,
    )})`
  },
})
