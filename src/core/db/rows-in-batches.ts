import { yieldToEventLoop } from '../time-slices'

const batchSize = 500

/** Loads at most `max` rows that follow `after` in the order of their key, which is text. */
type Page<Row> = (after: string, max: number) => PromiseLike<Row[]>

/**
 * Loads rows in the order of a key, in batches: thousands at once would block the event loop.
 * @param keyOf the key that pages are ordered by
 * @param size rows per batch; smaller for rows with much to parse
 */
export async function* batchesOf<Row>(page: Page<Row>, keyOf: (row: Row) => string, size = batchSize): AsyncGenerator<Row[]> {
  for (let after = ''; ;) {
    const some = await page(after, size)
    if (some.length > 0) yield some
    if (some.length < size) return
    after = keyOf(some.at(-1)!)
    await yieldToEventLoop()
  }
}

/** Loads all rows in id order, in batches. */
export async function rowsInBatches<Row extends { id: string }>(page: Page<Row>): Promise<Row[]> {
  const rows: Row[] = []
  for await (const some of batchesOf(page, row => row.id)) rows.push(...some)
  return rows
}
