import type { Op, ProviderRrset } from '../providers/provider'
import { targetOf } from '../record-values'
import { withinZone } from '../zone-names'

/**
 * The steps of a plan in an order in which nothing points at what is not there: what others lead to is made before them, then come
 * updates, then removals, those of NS and MX last. Where a CNAME takes the place of other types at a name, or they that of a CNAME, the removal is
 * just before.
 * @returns batches of at most `mostInBatch` steps; what belongs together at one name is in one batch, if it fits one at all
 */
export function inBatches(ops: readonly Op[], zoneName: string, mostInBatch: number): Op[][] {
  const batches: Op[][] = []
  for (const unit of unitsInOrder(ops, zoneName)) {
    const last = batches.at(-1)
    if (last && last.length + unit.length <= mostInBatch) last.push(...unit)
    else for (let at = 0; at < unit.length; at += mostInBatch) batches.push(unit.slice(at, at + mostInBatch))
  }
  return batches
}

type Unit = Op[]

function unitsInOrder(ops: readonly Op[], zoneName: string): Unit[] {
  const units = [...Map.groupBy(ops, one => one.name).values()].flatMap(at =>
    isSwap(at) ? [removalsFirst(at)] : at.map(one => [one]),
  )
  const made = units.filter(unit => unit.some(one => one.action !== 'delete'))
  const removed = units.filter(unit => unit.every(one => one.action === 'delete'))
  const creates = made.filter(unit => unit.every(one => one.action === 'create'))
  const others = made.filter(unit => unit.some(one => one.action !== 'create'))
  const late = removed.filter(([one]) => one!.type === 'NS' || one!.type === 'MX')
  const early = removed.filter(([one]) => one!.type !== 'NS' && one!.type !== 'MX')
  return [
    ...targetsFirst([...creates, ...others], op => op.after, zoneName),
    // Backwards: what leads to a name goes before it.
    ...targetsFirst(early, op => op.before, zoneName).toReversed(),
    ...late,
  ]
}

/** Types that nothing else may be beside (RFC 1034 section 3.6.2), and ALIAS, which is an address. */
const isSwap = (ops: readonly Op[]): boolean =>
  ops.length > 1 &&
  ops.some(one => one.type === 'CNAME' || one.type === 'ALIAS' || one.type === 'DNAME') &&
  ops.some(one => one.action === 'delete') &&
  ops.some(one => one.action !== 'delete')

const removalsFirst = (ops: readonly Op[]): Unit => [
  ...ops.filter(one => one.action === 'delete'),
  ...ops.filter(one => one.action !== 'delete'),
]

/** Depth first, with a stack of its own: chains of a hundred thousand names are allowed. What leads in a circle keeps its order. */
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
        next: ledTo(unit, side, zoneName)
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
 * Steps that have nothing to do with others that were refused: none at their names, none that would lead to what is not there, and no
 * removal of what still is led to.
 */
export function apartFrom(refused: readonly Op[], ops: readonly Op[], zoneName: string): Op[] {
  const names = new Set(refused.map(one => one.name))
  const needed = new Set(ledTo([...refused], op => op.before, zoneName))
  let apart = [...ops]
  for (let size = -1; size !== names.size;) {
    size = names.size
    apart = apart.filter(op => {
      const isHeld =
        names.has(op.name) ||
        (op.after ? ledTo([op], one => one.after, zoneName).some(name => names.has(name)) : needed.has(op.name))
      if (!isHeld) return true
      names.add(op.name)
      for (const name of ledTo([op], one => one.before, zoneName)) needed.add(name)
      return false
    })
  }
  return apart
}

/** Names of the zone that values of a unit lead to. */
function ledTo(unit: Unit, side: (op: Op) => ProviderRrset | null, zoneName: string): string[] {
  return unit.flatMap(op =>
    (side(op)?.values ?? []).flatMap(value => {
      const target = targetOf(op.type, value)
      const name = target === null ? null : withinZone(target, zoneName)
      return name === null || name === op.name ? [] : [name]
    }),
  )
}
