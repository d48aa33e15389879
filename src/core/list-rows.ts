import type { Ctx } from './ctx'
import { sha256Hex } from './crypto'
import { cursorKey, cursorValues, ordered, type Listing, type Ordered } from './list'
import { sealCursor } from './page'
import type { Page } from './shapes'

/**
 * One page of rows that are at hand, as `listPage` makes one of a table: for a list of few, of which some are in no table.
 * @param rows those that the caller may see and that fit the filters
 * @throws Problem 400 `invalid_cursor`
 */
export function pageOfRows<Row>(
  ctx: Ctx,
  listing: Listing<Row>,
  query: Record<string, unknown>,
  rows: readonly Row[],
): Page<Row> {
  const limit = (query.limit as number | undefined) ?? 25
  const order = ordered(listing, (query.sort as string[] | undefined) ?? [listing.defaultSort])
  const filters = Object.keys(listing.filters).filter(name => query[name] !== undefined)
  const asked = sha256Hex(
    JSON.stringify([listing.name, ctx.workspaceId, order.map(one => one.word), filters.map(name => [name, query[name]])]),
  ).slice(0, 16)
  const after = query.cursor === undefined ? null : cursorValues(ctx, query.cursor as string, asked, order.length)
  const behind = rows
    .map(row => ({ row, values: order.map(one => one.read(row)) }))
    .filter(one => after === null || compared(order, one.values, after) > 0)
    .sort((a, b) => compared(order, a.values, b.values))
  const data = behind.slice(0, limit).map(one => one.row)
  const last = behind[limit - 1]
  const more = behind.length > limit
  return {
    data,
    pagination: {
      has_more: more,
      next_cursor: more ? sealCursor(cursorKey(ctx), { values: last!.values, filterHash: asked }) : null,
      ...(query.include === 'total' && { total: rows.length }),
    },
  }
}

/** As the database compares: texts by their octets. */
function compared<Row>(order: readonly Ordered<Row>[], a: readonly (string | number)[], b: readonly (string | number)[]): number {
  for (const [place, { down }] of order.entries()) {
    const [one, other] = [a[place]!, b[place]!]
    const by = typeof one === 'number' ? one - (other as number) : Buffer.compare(Buffer.from(one), Buffer.from(String(other)))
    if (by !== 0) return down ? -by : by
  }
  return 0
}
