/** A row of a side-by-side diff. Null if a side has no line there. */
export interface DiffRow {
  before: string | null
  after: string | null
}

// The comparison takes quadratic time. For longer texts, only the common start and end are matched.
const maxCells = 4_000_000

/** Compares two texts by line (longest common subsequence). Changed lines are paired in order. */
export function diffRows(before: readonly string[], after: readonly string[]): DiffRow[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  const maxTail = Math.min(before.length, after.length) - head
  while (tail < maxTail && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  const left = before.slice(head, before.length - tail)
  const right = after.slice(head, after.length - tail)
  const unchanged = (line: string): DiffRow => ({ before: line, after: line })
  return [
    ...before.slice(0, head).map(unchanged),
    ...(left.length * right.length > maxCells ? paired(left, right) : middle(left, right)),
    ...before.slice(before.length - tail).map(unchanged),
  ]
}

/** Returns the differing part of two lines, as `[start, end in before, end in after]`. */
export function changedPart(before: string, after: string): [from: number, beforeEnd: number, afterEnd: number] {
  let from = 0
  while (from < before.length && from < after.length && before[from] === after[from]) from++
  let tail = 0
  const maxTail = Math.min(before.length, after.length) - from
  while (tail < maxTail && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  return [from, before.length - tail, after.length - tail]
}

function middle(left: readonly string[], right: readonly string[]): DiffRow[] {
  const width = right.length + 1
  // Length of the longest common subsequence from here on.
  const common = new Uint32Array((left.length + 1) * width)
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--)
      common[i * width + j] =
        left[i] === right[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!)
  const rows: DiffRow[] = []
  let removed: string[] = []
  let added: string[] = []
  let i = 0
  let j = 0
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      rows.push(...paired(removed, added), { before: left[i]!, after: right[j]! })
      removed = []
      added = []
      i++
      j++
    } else if (j >= right.length || (i < left.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!))
      removed.push(left[i++]!)
    else added.push(right[j++]!)
  }
  return [...rows, ...paired(removed, added)]
}

const paired = (removed: readonly string[], added: readonly string[]): DiffRow[] =>
  Array.from({ length: Math.max(removed.length, added.length) }, (_, i) => ({
    before: removed[i] ?? null,
    after: added[i] ?? null,
  }))
