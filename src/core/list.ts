import { Type, type TObject } from '@sinclair/typebox'
import { getTableColumns } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Ctx } from './ctx'
import { sha256Hex } from './crypto'
import type { Filter, Listing, SortColumn } from './listing'
import { accessOf, areUnique, type Access } from './list-access'
import { countSelected, pageRows, type Selection } from './list-statement'
import { InvalidCursor, openCursor, sealCursor } from './page'
import { Problem } from './problem'
import { propertyOf } from './property-name'
import { invalidParameter } from './query'
import type { Page } from './shapes'
import { parameterName, Words } from './shapes'

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
      description: 'Number of items per page.',
      ...(maxItems === defaultMaxItems && { [parameterName]: 'PageLimit' }),
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'Cursor of the page to return: the `next_cursor` of the previous page. Default: the first page.',
      [parameterName]: 'PageCursor',
    }),
  ),
})

/** The query parameters of a list operation. */
export function listQuery(listing: Pick<Listing<never>, 'filters' | 'sorts' | 'maxItems' | 'defaultSort' | 'isSmall'>): TObject {
  const words = ['id', ...Object.keys(listing.sorts)].flatMap(word => [word, `-${word}`])
  const time = listing.isSmall ? undefined : Object.keys(listing.sorts).find(name => `${name}[gte]` in listing.filters)
  const orTime = time && `-${time}` !== listing.defaultSort ? `, or \`-${time}\` if the list is filtered by this time` : ''
  return Type.Object(
    {
      ...pageParameters(listing.maxItems),
      sort: Type.Optional(
        Type.Array(Words(words), {
          minItems: 1,
          maxItems: 3,
          description: `Sort order, most significant field first. Prefix a field with a minus sign for descending order. Default: \`${listing.defaultSort}\`${orTime}.`,
        }),
      ),
      include: Type.Optional(
        Words(['total'], {
          description: '`total`: include `pagination.total`, the number of items in the list, counted up to 10,000.',
          [parameterName]: 'IncludeTotal',
        }),
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
  const filters = Object.keys(listing.filters).filter(name => query[name] !== undefined)
  const narrowed = narrowingColumn(ctx, listing, owner)
  const { order, access } = orderedBy(listing, query, filters, narrowed)
  const filterHash = sha256Hex(
    JSON.stringify([listing.name, owner, order.map(one => one.word), filters.map(name => [name, query[name]])]),
  ).slice(0, 16)
  const after = query.cursor === undefined ? null : cursorValues(ctx, query.cursor as string, filterHash, order.length)
  const selection: Selection = { ctx, listing: listing as never, query, owner, order, access, after, narrowed }
  const shape = [
    listing.name,
    order.map(one => one.word),
    filters.map(name => [name, variantOf(listing.filters[name]!, query[name])]),
    !!after,
    narrowed ? ctx.resourceIds!.size : 0,
  ].join('|')
  const { rows, last: examined } = await pageRows<Row>(selection, shape, limit)
  const more = rows.length > limit
  if (more) rows.length = limit
  const last = more ? rows[limit - 1]! : examined
  const next = last && order.map(one => one.read(last))
  const views = rows.map(view)
  const data = views.some(one => one instanceof Promise) ? await Promise.all(views) : (views as View[])
  const page: Page<View> = {
    data,
    pagination: { has_more: next !== null, next_cursor: next && sealCursor(cursorKey(ctx), { values: next, filterHash }) },
  }
  if (query.include === 'total') page.pagination.total = await countSelected(selection)
  return page
}

/** The order of the page, and how its rows are found. @throws Problem 400 if a large list has no index in this order */
function orderedBy<Row>(
  listing: Listing<Row>,
  query: Record<string, unknown>,
  filters: string[],
  narrowed: SQLiteColumn | null,
): { order: SortColumn<Row>[]; access: Access } {
  const words = (query.sort as string[] | undefined) ?? [listing.defaultSort]
  const order = sortColumns(listing, words)
  const isChecked = listing.condition !== undefined || narrowed !== null
  const access = accessOf(listing, order, query, filters, isChecked)
  if (!access) throw invalidParameter('sort', 'has too many fields for this list. Sort by one field.')
  if (query.sort !== undefined || access.checked.length === 0) return { order, access }
  // Without a sort order, a list limited to a time is in the order of this time, if there is an index.
  const down = listing.defaultSort.startsWith('-') ? '-' : ''
  for (const name of Object.keys(listing.sorts)) {
    const other = sortColumns(listing, [`${down}${name}`])
    const better = other.some(one => filters.some(filter => isRangeOf(listing.filters[filter]!, query[filter], one.column)))
      ? accessOf(listing, other, query, filters, isChecked)
      : null
    if (better && better.checked.length < access.checked.length) return { order: other, access: better }
  }
  return { order, access }
}

/**
 * The column to check for a token restricted to resources; null if the caller has full access or access to `owner` was checked.
 */
const narrowingColumn = <Row>(ctx: Ctx, listing: Listing<Row>, owner: string): SQLiteColumn | null =>
  ctx.resourceIds === null || owner !== ctx.workspaceId ? null : (listing.accessColumn ?? listing.id)

const variantOf = (filter: Filter, value: unknown): string =>
  filter.variant?.(value) ?? (Array.isArray(value) ? value.join('+') : '')

/** Whether a filter is a range of values of this column. */
function isRangeOf(filter: Filter, value: unknown, column: SQLiteColumn): boolean {
  const found = value === undefined ? undefined : filter.finds?.(value)
  return typeof found === 'object' && 'range' in found && found.range === column
}

/** The requested order, with the id as last column if needed, so that the order is unique. */
export function sortColumns<Row>(listing: Listing<Row>, words: string[]): SortColumn<Row>[] {
  const id = { column: listing.id, read: listing.idOf }
  const order = words.map(word => {
    const down = word.startsWith('-')
    const name = down ? word.slice(1) : word
    return { word, descending: down, ...(name === 'id' ? (listing.order ?? id) : listing.sorts[name]!) }
  })
  if (new Set(order.map(one => one.column)).size < order.length) throw invalidParameter('sort', 'must not contain duplicates.')
  for (const last of [listing.order ?? id, id]) {
    const columns = order.map(one => one.column)
    // SQLite doesn't use the index for an order with more columns than it has.
    if (columns.includes(last.column) || areUnique(listing, columns)) continue
    const { descending } = order[0]!
    order.push({ word: descending ? '-id' : 'id', descending, ...last })
  }
  return order
}

/** Whether a query sorts by id only, as it does by default. */
export const isByIdOnly = ({ sort }: Record<string, unknown>): boolean =>
  sort === undefined || (sort as string[]).every(word => /^-?id$/.test(word))

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
