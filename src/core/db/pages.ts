/**
 * Reads rows page by page, so that a long list is never read at once.
 * @param read the rows after `last`, up to `size`; undefined for the first page
 */
export async function* readPages<Row>(size: number, read: (last: Row | undefined) => Promise<Row[]>): AsyncGenerator<Row[]> {
  for (let last: Row | undefined; ;) {
    const rows = await read(last)
    yield rows
    if (rows.length < size) return
    last = rows.at(-1)
  }
}
