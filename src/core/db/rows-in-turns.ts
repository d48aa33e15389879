import { othersTurn } from '../turns'

const rowsAtOnce = 500

/**
 * Rows in the order of their ids, read some at a time: thousands at once would keep all else in the process waiting.
 * @param page at most so many of those with ids behind `after`, in the order of their ids
 */
export async function rowsInTurns<Row extends { id: string }>(
  page: (after: string, most: number) => PromiseLike<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let after = ''; ;) {
    const some = await page(after, rowsAtOnce)
    rows.push(...some)
    const last = some.at(-1)
    if (some.length < rowsAtOnce || !last) return rows
    after = last.id
    await othersTurn()
  }
}
