import type { FieldProblem } from '../../../core/problem'
import { nameOf } from '../definition/parse-target'
import type { MonitorRow } from '../view'
import type { MonitorEntry } from './shapes'

/** A monitor in a document, and the matching monitor of the workspace. */
export interface Entry {
  place: number
  item: MonitorEntry
  row: MonitorRow | null
  /** The id of its row, or of the monitor that was created; null until then. */
  id: string | null
  /** Entries of the document that it depends on or contains. */
  below: Entry[]
}

/** Entries in dependency order, and a lookup for the names they use. */
export interface Entries {
  list: Entry[]
  /** Problems with entries that are duplicate, ambiguous, or circular. */
  problems: FieldProblem[]
  /** Entries with such problems. */
  failed: Set<Entry>
  /** The id for a name; null if unknown, undefined for an entry that was not created. */
  idOf(name: string): string | null | undefined
}

/**
 * Matches the entries of a document with monitors: by key, by id, or by name if an entry has no key.
 * @param items null for an entry that could not be parsed
 */
export function entriesOf(items: readonly (MonitorEntry | null)[], rows: readonly MonitorRow[]): Entries {
  const problems: FieldProblem[] = []
  const byKey = new Map(rows.flatMap(row => (row.key === null ? [] : [[row.key, row] as const])))
  const byId = new Map(rows.map(row => [row.id, row]))
  const byName = Map.groupBy(rows, row => row.name)
  const own = new Map<string, Entry>()
  const claimed = new Map<string, number>()
  const failed = new Set<Entry>()
  const entries = items.flatMap((item, place): Entry[] => {
    if (item === null) return []
    const name = item.key ?? item.name ?? nameOf(item.target ?? '')
    const pointer = `#/monitors/${place}/${item.key == null ? 'name' : 'key'}`
    const found = item.key == null ? (byName.get(name) ?? []) : [byKey.get(item.key) ?? byId.get(item.key) ?? []].flat()
    if (found.length > 1)
      problems.push({ pointer, code: 'ambiguous', detail: 'matches more than one monitor. Give each of them a key.' })
    const row = found[0] ?? null
    const isDuplicate = own.has(name) || (row !== null && claimed.has(row.id))
    if (isDuplicate)
      problems.push({ pointer, code: 'not_unique', detail: 'refers to the same monitor as another entry of the document.' })
    const entry: Entry = { place, item, row, id: row?.id ?? null, below: [] }
    if (!own.has(name)) own.set(name, entry)
    if (row) claimed.set(row.id, place)
    if (isDuplicate || found.length > 1) failed.add(entry)
    return [entry]
  })
  for (const entry of entries) entry.below = namesIn(entry.item).flatMap(name => own.get(name) ?? [])
  const list = inOrder(entries, entry => {
    const member = entry.item.depends_on?.length ? 'depends_on' : 'options/members'
    problems.push({
      pointer: `#/monitors/${entry.place}/${member}`,
      code: 'circular',
      detail: 'creates a circular dependency.',
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

/** The names of all monitors an entry refers to. */
function namesIn(item: MonitorEntry): string[] {
  const members = item.options?.members
  return [...(item.depends_on ?? []), ...(Array.isArray(members) ? members.filter(one => typeof one === 'string') : [])]
}

/** Sorts topologically. @param circular called with each entry that closes a cycle */
function inOrder(entries: readonly Entry[], circular: (entry: Entry) => void): Entry[] {
  const ordered: Entry[] = []
  const state = new Map<Entry, 'open' | 'done'>()
  // Iterative, because a chain may be as long as the document.
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
