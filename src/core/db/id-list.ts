import { sql, type SQL } from 'drizzle-orm'

// Engines limit the number of values per statement.
const maxIds = 1024

/**
 * Runs a prepared statement for any number of ids. Its name must contain `size`: statements are cached for each power of two of
 * ids, because building them takes longer than running them.
 * @param run `list` is the list of placeholders in parentheses, to be filled with `values`
 */
export async function forIds<T>(
  ids: readonly string[],
  run: (size: number, list: SQL, values: Record<string, unknown>) => Promise<T[]>,
): Promise<T[]> {
  const found: T[] = []
  for (let at = 0; at < ids.length; at += maxIds) {
    const some = ids.slice(at, at + maxIds)
    const size = 2 ** Math.ceil(Math.log2(some.length))
    const values: Record<string, unknown> = {}
    // Fill unused parameters with an id from the list.
    for (let n = 0; n < size; n++) values[`v${n}`] = some[Math.min(n, some.length - 1)]
    found.push(...(await run(size, listOf(size), values)))
  }
  return found
}

const lists = new Map<number, SQL>()

function listOf(size: number): SQL {
  let list = lists.get(size)
  if (!list) {
    const placeholders = Array.from({ length: size }, (_, n) => sql`${sql.placeholder(`v${n}`)}`)
    lists.set(size, (list = sql`(${sql.join(placeholders, sql`, `)})`))
  }
  return list
}
