import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { indexesOf } from './db/table-indexes'
import type { Found, Listing, SortColumn } from './listing'

/**
 * A page that has to look for its items examines at most this many rows. It then has fewer items than requested, or none, and a cursor
 * that continues from there. So a filter that matches almost nothing never reads a whole large table at once.
 */
export const maxExamined = 10_000

/** How the rows of a page are found. */
export interface Access {
  /** Filters that an index answers. */
  found: string[]
  /** Filters that are checked for each row found. If there are any, the number of examined rows is limited. */
  checked: string[]
  /** Whether the owner is checked too, because the index doesn't contain it. */
  checksOwner: boolean
  /** A found filter with several values, which are looked up one by one, because together they aren't in list order. */
  each: { name: string; column: SQLiteColumn; values: readonly unknown[] } | null
}

/**
 * Chooses the index in list order that answers the most filters. Null if a large list has no index in this order.
 * @param isChecked whether rows are checked for something else too
 */
export function accessOf(
  { table, owner, through, filters, isSmall }: Pick<Listing<never>, 'table' | 'owner' | 'through' | 'filters' | 'isSmall'>,
  order: readonly SortColumn<never>[],
  query: Record<string, unknown>,
  names: string[],
  isChecked: boolean,
): Access | null {
  const all: Access = { found: names, checked: [], checksOwner: false, each: null }
  const finds = new Map<string, Found | undefined>(names.map(name => [name, filters[name]!.finds?.(query[name])]))
  if (through) return { ...all, found: names.filter(isScanned), checked: names.filter(name => !isScanned(name)) }
  const few = names.filter(name => finds.get(name) === 'few')
  if (few.length > 0)
    return { ...all, found: few, checked: names.filter(name => !few.includes(name)), checksOwner: owner !== null }
  const inRange = names.filter(name => rangeOf(finds.get(name)) === order[0]!.column)
  const others = names.filter(name => !inRange.includes(name))
  const equal = new Map<SQLiteColumn, { name: string; values: readonly unknown[] }>()
  for (const name of others) {
    const one = finds.get(name)
    if (typeof one === 'object' && 'equal' in one && (one.values.length === 1 || (others.length === 1 && !isChecked)))
      equal.set(one.equal, { name, values: one.values })
  }
  let best: SQLiteColumn[] | null = null
  for (const index of indexesOf(table))
    for (let length = index.columns.length; length >= 0; length--) {
      const prefix = index.columns.slice(0, length)
      if (!prefix.every(column => column === owner || equal.has(column))) continue
      // Without the owner, values can't be looked up one by one: the rows of each would have to be checked.
      if (owner && !prefix.includes(owner) && !prefix.some(column => equal.get(column)?.values.length === 1)) continue
      if (!isInOrder(index.columns.slice(length), order, index.isUnique)) continue
      if (!best || filtered(prefix) > filtered(best)) best = prefix
      break
    }
  if (!best) return isSmall ? all : null
  const used = best.flatMap(column => equal.get(column) ?? [])
  const several = used.find(one => one.values.length > 1)
  return {
    found: [...used.map(one => one.name), ...inRange],
    checked: others.filter(name => !used.some(one => one.name === name)),
    checksOwner: owner !== null && !best.includes(owner),
    each: several
      ? { name: several.name, column: best.find(column => equal.get(column) === several)!, values: several.values }
      : null,
  }

  function isScanned(name: string): boolean {
    return finds.get(name) === 'scanned'
  }
  function filtered(prefix: SQLiteColumn[]): number {
    return prefix.filter(column => equal.has(column)).length
  }
}

const rangeOf = (found: Found | undefined): SQLiteColumn | null =>
  typeof found === 'object' && 'range' in found ? found.range : null

/** Whether an index makes rows with the same values in these columns, or with the same owner, unique. */
export const areUnique = ({ table, owner }: Pick<Listing<never>, 'table' | 'owner'>, columns: readonly SQLiteColumn[]): boolean =>
  indexesOf(table).some(one => one.isUnique && one.columns.every(column => column === owner || columns.includes(column)))

/** Whether rows with the same values in the columns before are in the order of the list. */
function isInOrder(columns: readonly SQLiteColumn[], order: readonly SortColumn<never>[], isUnique: boolean): boolean {
  if (order.some(one => one.descending !== order[0]!.descending)) return false
  for (const [at, { column }] of order.entries()) {
    if (at === columns.length) return isUnique
    if (columns[at] !== column) return false
  }
  return true
}
