import type { Clock } from '../core/clock'
import { AdapterError } from './failure'
import { incompleteList, listTimeoutMs, maxRows } from './numbered-pages'

/**
 * Reads a complete list, page by page, from an API whose pages start at a row: rows that are created or deleted meanwhile move no
 * other rows. The caller finds out whether something changed.
 * @param first cursor of the first page
 * @param readPage returns the cursor of the next page; null on the last page
 * @param max number of rows that are accepted
 * @throws AdapterError
 */
export async function readCursorPages<C, R>(
  clock: Clock,
  first: C,
  readPage: (cursor: C) => Promise<{ rows: readonly R[]; next: C | null }>,
  max = maxRows,
): Promise<{ rows: R[]; pages: number }> {
  const end = clock.now() + listTimeoutMs
  const seen = new Set<string>()
  const rows: R[] = []
  for (let cursor: C | null = first; cursor !== null;) {
    if (clock.now() > end) throw new AdapterError('timeout', 'Reading all pages of the list took too long.')
    const key = JSON.stringify(cursor)
    if (seen.has(key)) throw incompleteList('a page refers back to a previous page')
    seen.add(key)
    const page: { rows: readonly R[]; next: C | null } = await readPage(cursor)
    rows.push(...page.rows)
    if (rows.length > max) throw new AdapterError('refused', `The list has more than ${max} rows.`)
    cursor = page.next
  }
  return { rows, pages: seen.size }
}
