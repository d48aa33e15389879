/** How long work may block the event loop, in milliseconds. */
const maxSliceMs = 5
/** Minimum number of characters per chunk. */
const chunkLength = 64 * 1024

let waiting: (() => void)[] = []
const waitingFirst: (() => void)[] = []
let isResuming = false

/**
 * Lets other pending work of this process run first. If many wait, only those continue in a turn of the event loop that have time in it:
 * a hundred requests that each take a few milliseconds must not block it together.
 * @param isFirst continues in the next turn, before all others: a transaction blocks other writes while it waits
 */
export const yieldToEventLoop = (isFirst = false): Promise<void> =>
  new Promise(resolve => {
    ;(isFirst ? waitingFirst : waiting).push(resolve)
    if (!isResuming) void resumeAll()
  })

async function resumeAll(): Promise<void> {
  isResuming = true
  while (waiting.length + waitingFirst.length > 0) {
    await nextTurn()
    for (const resume of waitingFirst.splice(0)) {
      resume()
      await new Promise<void>(process.nextTick)
    }
    const before = waiting
    waiting = []
    let resumed = 0
    for (const since = performance.now(); resumed < before.length && performance.now() - since < maxSliceMs;) {
      before[resumed++]!()
      // What was resumed runs until it waits for something else, which may take several microtasks.
      await new Promise<void>(process.nextTick)
    }
    waiting = [...before.slice(resumed), ...waiting]
  }
  isResuming = false
}

const nextTurn = (): Promise<void> =>
  new Promise(resolve => {
    // Bun can fall asleep with a pending immediate until something else happens.
    const timer = setTimeout(resolve, 1)
    setImmediate(() => {
      clearTimeout(timer)
      resolve()
    })
  })

// Longer than a slice, because all other writes wait for a transaction.
const maxTurnMs = 15
let turnStartedAt: number | null = null

/** Whether the current turn of the event loop has become long, as seen since the first call in it. */
export function isTurnOver(): boolean {
  if (turnStartedAt !== null) return performance.now() - turnStartedAt >= maxTurnMs
  turnStartedAt = performance.now()
  setImmediate(() => (turnStartedAt = null))
  return false
}

/** Like `flatMap`, yielding to the event loop whenever its turn has become long. */
export async function flatMapInTurns<T, R>(list: Iterable<T>, fn: (one: T) => readonly R[]): Promise<R[]> {
  const results: R[] = []
  for (const one of list) {
    results.push(...fn(one))
    if (isTurnOver()) await yieldToEventLoop()
  }
  return results
}

/**
 * Runs long work step by step, yielding to the event loop every few milliseconds.
 * @param steps each must be much shorter than that
 */
export async function runInSlices<R>(steps: Iterator<unknown, R>): Promise<R> {
  for (let since = performance.now(); ;) {
    const step = steps.next()
    if (step.done) return step.value
    if (performance.now() - since < maxSliceMs) continue
    await yieldToEventLoop()
    since = performance.now()
  }
}

/** Generates a long text in chunks, yielding to the event loop in between. @param steps as in {@link runInSlices} */
export async function* streamInSlices(steps: Iterable<string | void>): AsyncGenerator<string> {
  let chunk = ''
  let since = performance.now()
  for (const text of steps) {
    if (text) chunk += text
    if (chunk.length >= chunkLength) {
      yield chunk
      chunk = ''
    }
    if (performance.now() - since < maxSliceMs) continue
    await yieldToEventLoop()
    since = performance.now()
  }
  if (chunk !== '') yield chunk
}

const itemsPerStep = 1000

/** Returns a sorted copy of a list, step by step. The sort is stable. */
export function* sortInSteps<T>(list: readonly T[], compare: (a: T, b: T) => number): Generator<void, T[]> {
  let runs: T[][] = []
  for (let at = 0; at < list.length; at += itemsPerStep) {
    runs.push(list.slice(at, at + itemsPerStep).sort(compare))
    yield
  }
  while (runs.length > 1) {
    const longer: T[][] = []
    for (let at = 0; at < runs.length; at += 2) longer.push(yield* mergeInSteps(runs[at]!, runs[at + 1] ?? [], compare))
    runs = longer
  }
  return runs[0] ?? []
}

function* mergeInSteps<T>(one: readonly T[], other: readonly T[], compare: (a: T, b: T) => number): Generator<void, T[]> {
  const merged: T[] = []
  for (let a = 0, b = 0; a < one.length || b < other.length;) {
    const isOfOne = b === other.length || (a < one.length && compare(one[a]!, other[b]!) <= 0)
    merged.push(isOfOne ? one[a++]! : other[b++]!)
    if (merged.length % itemsPerStep === 0) yield
  }
  return merged
}
