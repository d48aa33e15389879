/** A line of two sides; null where one has none in its place. */
export interface DiffRow {
  before: string | null
  after: string | null
}

// Of longer texts only beginning and end are compared: nobody reads the rest line by line, and it is a square of work.
const mostCells = 4_000_000

/** Two texts by lines, alike lines beside each other (longest common subsequence); what changed is paired in order. */
export function diffRows(before: readonly string[], after: readonly string[]): DiffRow[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  const room = Math.min(before.length, after.length) - head
  while (tail < room && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  const left = before.slice(head, before.length - tail)
  const right = after.slice(head, after.length - tail)
  const same = (line: string): DiffRow => ({ before: line, after: line })
  return [
    ...before.slice(0, head).map(same),
    ...(left.length * right.length > mostCells ? paired(left, right) : middle(left, right)),
    ...before.slice(before.length - tail).map(same),
  ]
}

/** The parts of two lines that differ, as `[from, end of the one, end of the other]`. */
export function changedPart(before: string, after: string): [from: number, beforeEnd: number, afterEnd: number] {
  let from = 0
  while (from < before.length && from < after.length && before[from] === after[from]) from++
  let tail = 0
  const room = Math.min(before.length, after.length) - from
  while (tail < room && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  return [from, before.length - tail, after.length - tail]
}

function middle(left: readonly string[], right: readonly string[]): DiffRow[] {
  const width = right.length + 1
  // How many lines are alike from here on.
  const alike = new Uint32Array((left.length + 1) * width)
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--)
      alike[i * width + j] =
        left[i] === right[j]
          ? alike[(i + 1) * width + j + 1]! + 1
          : Math.max(alike[(i + 1) * width + j]!, alike[i * width + j + 1]!)
  const rows: DiffRow[] = []
  let gone: string[] = []
  let come: string[] = []
  let i = 0
  let j = 0
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      rows.push(...paired(gone, come), { before: left[i]!, after: right[j]! })
      gone = []
      come = []
      i++
      j++
    } else if (j >= right.length || (i < left.length && alike[(i + 1) * width + j]! >= alike[i * width + j + 1]!))
      gone.push(left[i++]!)
    else come.push(right[j++]!)
  }
  return [...rows, ...paired(gone, come)]
}

const paired = (gone: readonly string[], come: readonly string[]): DiffRow[] =>
  Array.from({ length: Math.max(gone.length, come.length) }, (_, at) => ({ before: gone[at] ?? null, after: come[at] ?? null }))
