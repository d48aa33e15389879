import type { Op } from './provider'

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
