import { and, eq, getTableName, inArray, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Ctx } from '../../core/ctx'
import { insertRows } from '../../core/db/insert-rows'
import { prepared } from '../../core/db/prepared'
import type { Tx } from '../../core/db/transaction'
import { isByIdOnly } from '../../core/list'
import { hasMark, listingByMark } from '../../core/list-marks'
import type { Filter, Listing } from '../../core/listing'
import { invalidParameter } from '../../core/query'
import type { LabelTable } from './label-tables'
import { InvalidSelector, labelMarks, markOf, parseSelector, Selector, type Labels, type SelectorTerm } from './labels'

const parameter = 'label_selector'

/** The filter `label_selector` of a list of resources with labels. @param what noun, such as `servers` */
export const selectorFilter = (what: string, id: SQLiteColumn, table: LabelTable): Record<string, Filter> => ({
  [parameter]: { schema: Selector(what), ...termsFilter(id, table, null) },
})

/** A term by which rows are found. The other terms are checked for each of these rows. */
interface Access {
  term: SelectorTerm
  /** Whether the listing scans its mark. Otherwise few rows have it. */
  isScanned: boolean
  workspaceId: string
}

function termsFilter(id: SQLiteColumn, table: LabelTable, access: Access | null): Omit<Filter, 'schema'> {
  const isFound = (term: SelectorTerm) => access !== null && !term.isNegated && markOf(term) === markOf(access.term)
  return {
    where: (value, bind) =>
      and(
        ...selectorOf(value).map(term => {
          const mark = bind(markOf(term))
          if (!isFound(term)) {
            const isMarked = hasMark({ row: table.resourceId, mark: table.mark }, id, mark)
            return term.isNegated ? sql`not ${isMarked}` : isMarked
          }
          if (access!.isScanned) return eq(table.mark, mark)
          const workspace = bind(access!.workspaceId)
          return sql`${id} in (select ${table.resourceId} from ${table}
            where ${table.workspaceId} = ${workspace} and ${table.mark} = ${mark})`
        }),
      )!,
    variant: value =>
      selectorOf(value)
        .map(term => (term.isNegated ? '-' : !isFound(term) ? '+' : access!.isScanned ? 's' : 'f'))
        .join(''),
    finds: () => (access ? (access.isScanned ? 'scanned' : 'few') : undefined),
  }
}

// Sorting so many rows is fast. If more have a label, a page of them is found soon by checking rows in list order.
const maxFew = 1_000

/**
 * The listing for a query. Rows are found by the label of the selector that the fewest resources have, so that a page is fast however
 * many have it.
 */
export async function listingByLabel<Row>(
  ctx: Ctx,
  listing: Listing<Row>,
  table: LabelTable,
  query: Record<string, unknown>,
): Promise<Listing<Row>> {
  if (query[parameter] === undefined) return listing
  const terms = selectorOf(query[parameter]).filter(term => !term.isNegated)
  const isScanned = isByIdOnly(query)
  const counts = isScanned && terms.length === 1 ? [0] : await Promise.all(terms.map(term => countOf(ctx, table, markOf(term))))
  const count = Math.min(...counts)
  const term = terms[counts.indexOf(count)]
  if (!term || (!isScanned && count === maxFew)) return listing
  const access = { term, isScanned, workspaceId: ctx.workspaceId }
  const filter = { ...listing.filters[parameter]!, ...termsFilter(listing.id, table, access) }
  const found = { ...listing, filters: { ...listing.filters, [parameter]: filter } }
  return isScanned ? listingByMark(found, table.resourceId, table.workspaceId) : found
}

/** The number of resources with a mark, counted up to a maximum. */
async function countOf({ hub, workspaceId }: Ctx, table: LabelTable, mark: string): Promise<number> {
  const statement = prepared(hub.read, `label-count|${getTableName(table)}`, read => {
    const marked = read
      .select({ mark: table.mark })
      .from(table)
      .where(and(eq(table.workspaceId, sql.placeholder('workspaceId')), eq(table.mark, sql.placeholder('mark'))))
      .limit(maxFew)
    return read.select({ count: sql<number>`count(*)`.mapWith(Number) }).from(marked.as('marked'))
  })
  const [row] = await statement.execute({ workspaceId, mark })
  return row!.count
}

/** @throws Problem 400 */
function selectorOf(value: unknown): SelectorTerm[] {
  try {
    return parseSelector(value as string)
  } catch (error) {
    if (error instanceof InvalidSelector) throw invalidParameter(parameter, error.message)
    throw error
  }
}

/** Updates the labels by which lists find resources. The caller has locked the rows of the resources. */
export async function saveLabels(
  tx: Tx,
  table: LabelTable,
  workspaceId: string,
  changes: readonly { id: string; before: Labels; after: Labels }[],
): Promise<void> {
  const added: LabelTable['$inferInsert'][] = []
  for (const { id, before, after } of changes) {
    const [old, current] = [new Set(labelMarks(before)), new Set(labelMarks(after))]
    const removed = [...old].filter(mark => !current.has(mark))
    if (removed.length > 0) await tx.delete(table).where(and(eq(table.resourceId, id), inArray(table.mark, removed)))
    for (const mark of current) if (!old.has(mark)) added.push({ workspaceId, resourceId: id, mark })
  }
  await insertRows(tx, table, added)
}
