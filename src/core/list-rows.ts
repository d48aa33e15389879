import type { Ctx } from './ctx'
import { sha256Hex } from './crypto'
import { cursorKey, cursorValues, sortColumns } from './list'
import type { Listing, SortColumn } from './listing'
import { sealCursor } from './page'
import type { Page } from './shapes'

/**
 * Like `listPage`, but for rows in memory: for short lists whose items are not all in a table.
 * @param rows already filtered, and limited to those the caller can see
 * @throws Problem 400 `invalid_cursor`
 */
export function paginateRows<Row>(
  ctx: Ctx,
  listing: Listing<Row>,
  query: Record<string, unknown>,
  rows: readonly Row[],
): Page<Row> {
  const limit = (query.limit as number | undefined) ?? 25
  const order = sortColumns(listing, (query.sort as string[] | undefined) ?? [listing.defaultSort])
  const filters = Object.keys(listing.filters).filter(name => query[name] !== undefined)
  const filterHash = sha256Hex(
    JSON.stringify([listing.name, ctx.workspaceId, order.map(one => one.word), filters.map(name => [name, query[name]])]),
  ).slice(0, 16)
  const after = query.cursor === undefined ? null : cursorValues(ctx, query.cursor as string, filterHash, order.length)
  const following = rows
    .map(row => ({ row, values: order.map(one => one.read(row)) }))
    .filter(one => after === null || compared(order, one.values, after) > 0)
    .sort((a, b) => compared(order, a.values, b.values))
  const data = following.slice(0, limit).map(one => one.row)
  const last = following[limit - 1]
  const more = following.length > limit
  return {
    data,
    pagination: {
      has_more: more,
      next_cursor: more ? sealCursor(cursorKey(ctx), { values: last!.values, filterHash }) : null,
      ...(query.include === 'total' && { total: rows.length }),
    },
  }
}

/** Compares like the database: text by bytes. */
function compared<Row>(
  order: readonly SortColumn<Row>[],
  a: readonly (string | number)[],
  b: readonly (string | number)[],
): number {
  for (const [index, { descending }] of order.entries()) {
    const [one, other] = [a[index]!, b[index]!]
    const by = typeof one === 'number' ? one - (other as number) : Buffer.compare(Buffer.from(one), Buffer.from(String(other)))
    if (by !== 0) return descending ? -by : by
  }
  return 0
}
