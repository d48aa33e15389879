import type { Op, ProviderRrset } from '../providers/provider'
import { targetOf } from '../records/values'
import { withinZone } from '../zones/names'

/**
 * Orders steps so that no record ever points to a missing name: targets are created before records that point to them, then come
 * updates, then deletions, with NS and MX last. If a CNAME replaces other types at a name or the reverse, the deletion comes
 * directly before.
 * @returns batches of up to `maxBatchOps` steps; steps that belong together share a batch if they fit in one
 */
export function inBatches(ops: readonly Op[], zoneName: string, maxBatchOps: number): Op[][] {
  const batches: Op[][] = []
  for (const unit of unitsInOrder(ops, zoneName)) {
    const last = batches.at(-1)
    if (last && last.length + unit.length <= maxBatchOps) last.push(...unit)
    else for (let at = 0; at < unit.length; at += maxBatchOps) batches.push(unit.slice(at, at + maxBatchOps))
  }
  return batches
}

type Unit = Op[]

function unitsInOrder(ops: readonly Op[], zoneName: string): Unit[] {
  const units = [...Map.groupBy(ops, one => one.name).values()].flatMap(at =>
    isSwap(at) ? [removalsFirst(at)] : at.map(one => [one]),
  )
  const changedUnits = units.filter(unit => unit.some(one => one.action !== 'delete'))
  const deletedUnits = units.filter(unit => unit.every(one => one.action === 'delete'))
  const creates = changedUnits.filter(unit => unit.every(one => one.action === 'create'))
  const others = changedUnits.filter(unit => unit.some(one => one.action !== 'create'))
  const late = deletedUnits.filter(([one]) => one!.type === 'NS' || one!.type === 'MX')
  const early = deletedUnits.filter(([one]) => one!.type !== 'NS' && one!.type !== 'MX')
  return [
    ...targetsFirst([...creates, ...others], op => op.after, zoneName),
    // Reversed: records are deleted before the names they point to.
    ...targetsFirst(early, op => op.before, zoneName).toReversed(),
    ...late,
  ]
}

/** Types that can't coexist with others (RFC 1034 section 3.6.2), and ALIAS, which acts as an address. */
const isSwap = (ops: readonly Op[]): boolean =>
  ops.length > 1 &&
  ops.some(one => one.type === 'CNAME' || one.type === 'ALIAS' || one.type === 'DNAME') &&
  ops.some(one => one.action === 'delete') &&
  ops.some(one => one.action !== 'delete')

const removalsFirst = (ops: readonly Op[]): Unit => [
  ...ops.filter(one => one.action === 'delete'),
  ...ops.filter(one => one.action !== 'delete'),
]

/** Iterative depth-first search: chains of 100,000 names must not overflow the stack. Cycles keep their order. */
function targetsFirst(units: readonly Unit[], side: (op: Op) => ProviderRrset | null, zoneName: string): Unit[] {
  const at = Map.groupBy(units, unit => unit[0]!.name)
  const seen = new Set<Unit>()
  const ordered: Unit[] = []
  for (const first of units) {
    const stack: { unit: Unit; next: Iterator<Unit> }[] = []
    const enter = (unit: Unit) => {
      if (seen.has(unit)) return
      seen.add(unit)
      stack.push({
        unit,
        next: referencedNames(unit, side, zoneName)
          .flatMap(name => at.get(name) ?? [])
          .values(),
      })
    }
    enter(first)
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const { done, value } = top.next.next()
      if (!done) enter(value)
      else {
        ordered.push(top.unit)
        stack.pop()
      }
    }
  }
  return ordered
}

/**
 * Returns the steps that are independent of refused ones: at other names, not pointing to a name that is missing, and not
 * deleting a name that is still pointed to.
 */
export function independentOf(refused: readonly Op[], ops: readonly Op[], zoneName: string): Op[] {
  const names = new Set(refused.map(one => one.name))
  const needed = new Set(referencedNames([...refused], op => op.before, zoneName))
  let apart = [...ops]
  for (let size = -1; size !== names.size;) {
    size = names.size
    apart = apart.filter(op => {
      const isHeld =
        names.has(op.name) ||
        (op.after ? referencedNames([op], one => one.after, zoneName).some(name => names.has(name)) : needed.has(op.name))
      if (!isHeld) return true
      names.add(op.name)
      for (const name of referencedNames([op], one => one.before, zoneName)) needed.add(name)
      return false
    })
  }
  return apart
}

/** Names within the zone that the values of a unit point to. */
function referencedNames(unit: Unit, side: (op: Op) => ProviderRrset | null, zoneName: string): string[] {
  return unit.flatMap(op =>
    (side(op)?.values ?? []).flatMap(value => {
      const target = targetOf(op.type, value)
      const name = target === null ? null : withinZone(target, zoneName)
      return name === null || name === op.name ? [] : [name]
    }),
  )
}
