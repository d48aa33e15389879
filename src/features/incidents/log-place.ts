/**
 * The number of the first entry of a gapless log that is not older than `time`, by halving. Entries are nearly in the order of time.
 * @param lowest number of the first entry that is still there
 * @param highest number of the last one
 * @param timeOf when the entry of a number was written (ms UTC); null where it is gone meanwhile
 * @returns `highest + 1` where all are older
 */
export async function firstSince(
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
