import type { Op } from './provider'

/** A limit of a batch. */
interface BatchLimit {
  max: number
  /** How much a step counts. */
  sizeOf(op: Op): number
}

/**
 * Splits steps, in order, into batches within limits. Consecutive steps at one name stay together if they fit, so that a record is not
 * removed before its replacement is created. A step that exceeds a limit gets a batch of its own.
 */
export function batchesWithin(ops: readonly Op[], limits: readonly BatchLimit[]): Op[][] {
  const batches: Op[][] = []
  let sizes = limits.map(() => Infinity)
  const sizesOf = (some: readonly Op[]) => limits.map(({ sizeOf }) => some.reduce((sum, op) => sum + sizeOf(op), 0))
  const fits = (some: readonly number[]) => limits.every(({ max }, place) => some[place]! <= max)
  for (const group of stepsByName(ops))
    for (const some of fits(sizesOf(group)) ? [group] : group.map(op => [op])) {
      const added = sizesOf(some)
      const together = sizes.map((size, place) => size + added[place]!)
      if (fits(together)) {
        batches.at(-1)!.push(...some)
        sizes = together
        continue
      }
      batches.push(some)
      sizes = added
    }
  return batches
}

/** Splits steps in two, in order, without separating consecutive steps at one name; null if that is impossible. */
export function halvesOf(ops: readonly Op[]): [Op[], Op[]] | null {
  const groups = [...stepsByName(ops)]
  const middle = groups.length >> 1
  return middle === 0 ? null : [groups.slice(0, middle).flat(), groups.slice(middle).flat()]
}

/** Groups consecutive steps at the same name. */
export function* stepsByName(ops: readonly Op[]): Generator<Op[]> {
  let group: Op[] = []
  for (const op of ops) {
    if (group.length > 0 && group[0]!.name !== op.name) {
      yield group
      group = []
    }
    group.push(op)
  }
  if (group.length > 0) yield group
}
