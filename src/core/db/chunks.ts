/** The most rows of one statement: SQLite allows 32,766 values per statement, PostgreSQL 65,535. */
const maxChunkSize = 128
const maxWholeSize = 8

/** Splits rows into chunks of up to 8 rows or a power of two, so that a few prepared statements cover every number of rows. */
export function* chunksOf<T>(rows: readonly T[]): Generator<readonly T[]> {
  let start = 0
  for (let size = maxChunkSize; rows.length - start > maxWholeSize; size /= 2)
    for (; rows.length - start >= size; start += size) yield size === rows.length ? rows : rows.slice(start, start + size)
  if (start < rows.length) yield start === 0 ? rows : rows.slice(start)
}
