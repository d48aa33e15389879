/**
 * Binary search for the first entry of a gapless log that is not older than `time`. Entries must be roughly in order of time.
 * @param lowest number of the oldest remaining entry
 * @param highest number of the newest entry
 * @param timeOf when an entry was written (ms UTC); null if it was deleted meanwhile
 * @returns `highest + 1` if all entries are older
 */
export async function firstEntrySince(
  time: number,
  lowest: number,
  highest: number,
  timeOf: (number: number) => Promise<number | null>,
): Promise<number> {
  let [from, to] = [lowest, highest + 1]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    const at = await timeOf(middle)
    if (at === null || at < time) from = middle + 1
    else to = middle
  }
  return from
}
