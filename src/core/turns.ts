/** Milliseconds that one piece of long work may keep all else in the process waiting. */
const longestMs = 5
/** Characters that are sent at once. */
const pieceLength = 64 * 1024

/** Lets all that waits in this process have its turn first. */
export const othersTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** Does long work step by step, and lets others have their turn every few milliseconds. @param steps each far shorter than that */
export async function inTurns<R>(steps: Iterator<unknown, R>): Promise<R> {
  for (let since = performance.now(); ;) {
    const step = steps.next()
    if (step.done) return step.value
    if (performance.now() - since < longestMs) continue
    await othersTurn()
    since = performance.now()
  }
}

/** A long text, as it is sent: in pieces, between which others have their turn too. @param steps as of {@link inTurns} */
export async function* piecesInTurns(steps: Iterable<string | void>): AsyncGenerator<string> {
  let piece = ''
  let since = performance.now()
  for (const text of steps) {
    if (text) piece += text
    if (piece.length >= pieceLength) {
      yield piece
      piece = ''
    }
    if (performance.now() - since < longestMs) continue
    await othersTurn()
    since = performance.now()
  }
  if (piece !== '') yield piece
}

const sortedAtOnce = 1000

/** A sorted copy of a list, step by step; equal ones stay in their order. */
export function* sorting<T>(list: readonly T[], compare: (a: T, b: T) => number): Generator<void, T[]> {
  let runs: T[][] = []
  for (let at = 0; at < list.length; at += sortedAtOnce) {
    runs.push(list.slice(at, at + sortedAtOnce).sort(compare))
    yield
  }
  while (runs.length > 1) {
    const longer: T[][] = []
    for (let at = 0; at < runs.length; at += 2) longer.push(yield* merging(runs[at]!, runs[at + 1] ?? [], compare))
    runs = longer
  }
  return runs[0] ?? []
}

function* merging<T>(one: readonly T[], other: readonly T[], compare: (a: T, b: T) => number): Generator<void, T[]> {
  const merged: T[] = []
  for (let a = 0, b = 0; a < one.length || b < other.length;) {
    const isOfOne = b === other.length || (a < one.length && compare(one[a]!, other[b]!) <= 0)
    merged.push(isOfOne ? one[a++]! : other[b++]!)
    if (merged.length % sortedAtOnce === 0) yield
  }
  return merged
}
