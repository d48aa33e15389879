import { allEnded } from './all-ended'
import type { Tx } from './transaction'

type Run = (items: readonly unknown[]) => Promise<readonly unknown[]>

interface Batch {
  run: Run
  calls: { item: unknown; result: PromiseWithResolvers<unknown> }[]
}

/** Steps of a transaction that run concurrently, so that what they have in common takes one statement instead of one each. */
class Group {
  private waiting = 0
  private batches = new Map<string, Batch>()

  constructor(private steps: number) {}

  add(name: string, item: unknown, run: Run): Promise<unknown> {
    const result = Promise.withResolvers<unknown>()
    const batch = this.batches.get(name)
    if (batch) batch.calls.push({ item, result })
    else this.batches.set(name, { run, calls: [{ item, result }] })
    this.waiting++
    this.runIfAllWait()
    return result.promise
  }

  /** A step has ended. */
  leave(): void {
    this.steps--
    this.runIfAllWait()
  }

  private runIfAllWait(): void {
    if (this.waiting < this.steps || this.batches.size === 0) return
    const batches = this.batches
    this.batches = new Map()
    void this.runAll([...batches.values()])
  }

  /** After an error, no further batch runs: it fails all steps, because the transaction is rolled back. */
  private async runAll(batches: readonly Batch[]): Promise<void> {
    let done: (() => void)[] = []
    try {
      for (const { run, calls } of batches) {
        const results = await run(calls.map(call => call.item))
        done.push(...calls.map((call, index) => () => call.result.resolve(results[index])))
      }
    } catch (error) {
      done = batches.flatMap(({ calls }) => calls.map(call => () => call.result.reject(error)))
    }
    this.waiting -= done.length
    for (const settle of done) settle()
  }
}

const groups = new WeakMap<Tx, Group>()

/**
 * Runs steps of a transaction concurrently. Whenever all of them wait for a `batched` function, the calls of each such function run
 * as one. The steps must not depend on each other.
 * @returns their results in order @throws the first error, after all steps have ended
 */
export async function together<T>(tx: Tx, steps: readonly (() => Promise<T>)[]): Promise<T[]> {
  if (groups.has(tx)) throw new Error('Steps that run together can’t start further steps that run together.')
  const group = new Group(steps.length)
  groups.set(tx, group)
  try {
    return await allEnded(steps.map(step => step().finally(() => group.leave())))
  } finally {
    groups.delete(tx)
  }
}

/**
 * Makes a function that runs once for all calls of steps that run `together`. Otherwise each call runs on its own.
 * @param name unique
 * @param run returns the result of each item, in order
 */
export function batched<I, R>(
  name: string,
  run: (tx: Tx, items: readonly I[]) => Promise<readonly R[]>,
): (tx: Tx, item: I) => Promise<R> {
  return async (tx, item) => {
    const group = groups.get(tx)
    if (!group) return (await run(tx, [item]))[0]!
    return (await group.add(name, item, items => run(tx, items as readonly I[]))) as R
  }
}
