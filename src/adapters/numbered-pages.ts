import type { Clock } from '../core/clock'
import { AdapterError } from './failure'

interface Row {
  id: unknown
}

/** A page of a list, with its pagination info. */
export interface NumberedPage<R extends Row = Row & Record<string, unknown>> {
  rows: R[]
  page: number
  perPage: number
  totalCount: number
  totalPages: number | null
}

/** Maximum number of rows of a list. */
export const maxRows = 500_000
/** Time limit for a complete list: the server chooses the page size. */
export const listTimeoutMs = 5 * 60_000

/**
 * Reads a complete list from an API without cursors, where rows move between pages if others are created or deleted meanwhile. So all
 * pages must report the same total, no row may occur twice, and all pages but the last are read again at the end: if a row had been
 * deleted from one of them, the following rows would have moved.
 * @param isById rows are sorted by id, so that new ones come last. Then no page is read twice, and a row can be missing, but only if an
 *   earlier one was deleted and another was created meanwhile. The caller has to confirm that what is missing doesn’t exist
 * @param max number of rows that are accepted
 * @throws AdapterError `incomplete` if the rows may not be a consistent snapshot
 */
export async function readNumberedPages<R extends Row>(
  clock: Clock,
  readPage: (page: number) => Promise<NumberedPage<R>>,
  { isById = false, max = maxRows }: { isById?: boolean; max?: number } = {},
): Promise<R[]> {
  const end = clock.now() + listTimeoutMs
  const pageAt = async (page: number): Promise<NumberedPage<R>> => {
    if (clock.now() > end) throw new AdapterError('timeout', 'Reading all pages of the list took too long.')
    return await readPage(page)
  }
  const first = await pageAt(1)
  const { totalCount } = first
  if (totalCount > max) throw new AdapterError('refused', `The list has ${totalCount} rows; the limit is ${max}.`)
  const pages = [first]
  let collected = rowsExpected(first, first, 0)
  while (collected < totalCount) {
    const next = await pageAt(pages.length + 1)
    collected += rowsExpected(next, first, collected)
    pages.push(next)
  }
  const rows = pages.flatMap(page => page.rows)
  if (new Set(rows.map(row => row.id)).size < rows.length) throw changedMeanwhile()
  if (isById) {
    if (rows.some(({ id }, place) => place > 0 && Number(id) < Number(rows[place - 1]!.id))) throw changedMeanwhile()
    return rows
  }
  for (const { rows: before, page } of pages.slice(0, -1)) {
    const again = (await pageAt(page)).rows
    if (again.length !== before.length || again.some(({ id }, place) => id !== before[place]!.id)) throw changedMeanwhile()
  }
  return rows
}

export const incompleteList = (what: string) => new AdapterError('incomplete', `The list is incomplete: ${what}.`)

const changedMeanwhile = () => incompleteList('it changed while being read')

/** Validates a page, which must have the expected number of rows after `collected` others. @throws AdapterError `incomplete` */
function rowsExpected(
  { rows, page, perPage, totalCount, totalPages }: NumberedPage<Row>,
  first: NumberedPage<Row>,
  collected: number,
): number {
  if (totalCount !== first.totalCount || perPage !== first.perPage) throw changedMeanwhile()
  const expected = Math.min(perPage, totalCount - collected)
  if (rows.length !== expected) throw incompleteList(`page ${page} has ${rows.length} of ${expected} rows`)
  if (totalPages !== null && Math.max(1, totalPages) !== Math.max(1, Math.ceil(totalCount / perPage)))
    throw incompleteList(`${totalPages} pages do not match ${totalCount} rows`)
  return expected
}
