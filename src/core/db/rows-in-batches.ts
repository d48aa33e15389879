import { yieldToEventLoop } from '../time-slices'

const batchSize = 500

/**
 * Loads rows in id order, in batches: thousands at once would block the event loop.
 * @param page loads at most `max` rows with ids greater than `after`, in id order
 */
export async function rowsInBatches<Row extends { id: string }>(
  page: (after: string, max: number) => PromiseLike<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let after = ''; ;) {
    const some = await page(after, batchSize)
    rows.push(...some)
    const last = some.at(-1)
    if (some.length < batchSize || !last) return rows
    after = last.id
    await yieldToEventLoop()
  }
}
