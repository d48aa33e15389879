import type { FieldProblem } from '../../../core/problem'
import { nameOf } from '../understood'
import type { MonitorRow } from '../view'
import type { MonitorEntry } from './shapes'

/** A monitor of a document, and the one of the workspace that it is. */
export interface Entry {
  place: number
  item: MonitorEntry
  row: MonitorRow | null
  /** Once it is known: of its row, or of the one that was made. */
  id: string | null
  /** Entries of the document that it depends on, or that are its members. */
  below: Entry[]
}

/** Entries in an order in which each comes after those that it names, and how to read names. */
export interface Entries {
  list: Entry[]
  /** What is wrong with entries that are one and the same, that could be several, or that lead back to themselves. */
  problems: FieldProblem[]
  /** Entries that have such problems. */
  failed: Set<Entry>
  /** The id that a name stands for; null for none, undefined for an entry that was not made. */
  idOf(name: string): string | null | undefined
}

/**
 * Finds the monitors that a document tells of: by key, by id, or by name where an entry has no key.
 * @param items null in the place of one that cannot be read
 */
export function entriesOf(items: readonly (MonitorEntry | null)[], rows: readonly MonitorRow[]): Entries {
  const problems: FieldProblem[] = []
  const byKey = new Map(rows.flatMap(row => (row.key === null ? [] : [[row.key, row] as const])))
  const byId = new Map(rows.map(row => [row.id, row]))
  const byName = Map.groupBy(rows, row => row.name)
  const own = new Map<string, Entry>()
  const taken = new Map<string, number>()
  const failed = new Set<Entry>()
  const entries = items.flatMap((item, place): Entry[] => {
    if (item === null) return []
    const name = item.key ?? item.name ?? nameOf(item.target ?? '')
    const pointer = `#/monitors/${place}/${item.key == null ? 'name' : 'key'}`
    const found = item.key == null ? (byName.get(name) ?? []) : [byKey.get(item.key) ?? byId.get(item.key) ?? []].flat()
    if (found.length > 1)
      problems.push({ pointer, code: 'ambiguous', detail: 'is the name of several monitors: give each its key.' })
    const row = found[0] ?? null
    const twice = own.has(name) || (row !== null && taken.has(row.id))
    if (twice) problems.push({ pointer, code: 'not_unique', detail: 'stands for what another entry of the document is.' })
    const entry: Entry = { place, item, row, id: row?.id ?? null, below: [] }
    if (!own.has(name)) own.set(name, entry)
    if (row) taken.set(row.id, place)
    if (twice || found.length > 1) failed.add(entry)
    return [entry]
  })
  for (const entry of entries) entry.below = namesIn(entry.item).flatMap(name => own.get(name) ?? [])
  const list = inOrder(entries, entry => {
    const member = entry.item.depends_on?.length ? 'depends_on' : 'options/members'
    problems.push({
      pointer: `#/monitors/${entry.place}/${member}`,
      code: 'circular',
      detail: 'leads back to the monitor itself.',
    })
    failed.add(entry)
  })
  return {
    list,
    problems,
    failed,
    idOf(name) {
      const entry = own.get(name)
      if (entry) return entry.id ?? undefined
      return (byKey.get(name) ?? byId.get(name))?.id ?? null
    },
  }
}

/** Every monitor that an entry names. */
export function namesIn(item: MonitorEntry): string[] {
  const members = item.options?.members
  return [...(item.depends_on ?? []), ...(Array.isArray(members) ? members.filter(one => typeof one === 'string') : [])]
}

/** @param circular is told which entry closes a circle */
function inOrder(entries: readonly Entry[], circular: (entry: Entry) => void): Entry[] {
  const ordered: Entry[] = []
  const state = new Map<Entry, 'open' | 'done'>()
  // Not by recursion: a chain may be as long as the document.
  for (const start of entries) {
    const path: { entry: Entry; next: number }[] = [{ entry: start, next: 0 }]
    while (path.length > 0) {
      const top = path.at(-1)!
      if (top.next === 0 && state.get(top.entry) === 'done') {
        path.pop()
        continue
      }
      state.set(top.entry, 'open')
      const below = top.entry.below[top.next++]
      if (!below) {
        state.set(top.entry, 'done')
        ordered.push(top.entry)
        path.pop()
      } else if (state.get(below) === 'open') circular(top.entry)
      else if (!state.has(below)) path.push({ entry: below, next: 0 })
    }
  }
  return ordered
}
