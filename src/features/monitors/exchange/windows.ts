import { invalid, type FieldProblem } from '../../../core/problem'
import { everyWindow } from '../../maintenance/every'
import type { MaintenanceWindowView } from '../../maintenance/shapes'
import { noTargets, type Targets } from '../../maintenance/targets'
import type { WindowRow } from '../../maintenance/view'
import { createWindow, deleteWindow, updateWindow } from '../../maintenance/windows'
import type { Applying } from './applying'
import { Gathered } from './gathered'
import type { WindowEntry } from './shapes'

const mostProblems = 20

/** A maintenance window as a document has it; null for one that is for nothing any more. @param keys what monitors are called, by id */
export function windowItem(row: WindowRow, keys: ReadonlyMap<string, string>): WindowEntry | null {
  const named = (ids: readonly string[]) => ids.flatMap(id => keys.get(id) ?? [])
  const { targets } = row
  const lists = {
    monitors: named(targets.monitors),
    groups: named(targets.groups),
    heartbeats: targets.heartbeats,
    tags: targets.tags,
  }
  const told = Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0))
  if (!targets.all && Object.keys(told).length === 0) return null
  return {
    name: row.name,
    kind: row.kind,
    timezone: row.timezone,
    duration_seconds: row.durationSeconds,
    ...(row.startsAtLocal !== null && { starts_at_local: row.startsAtLocal }),
    ...(row.rrule !== null && { rrule: row.rrule }),
    ...(row.cron !== null && { cron: row.cron }),
    ...(row.exdates.length > 0 && { exdates: row.exdates }),
    ...(row.description !== '' && { description: row.description }),
    targets: { ...(targets.all && { all: true }), ...told },
  }
}

/**
 * Makes the maintenance windows what a document says; each is found by its name.
 * @param entries null in the place of one that cannot be read
 * @param idOf the id of a monitor by its name in the document
 * @throws Problem 422 at each entry that is wrong, 409 for more than there may be
 */
export async function bringWindows(
  applying: Applying,
  entries: readonly (WindowEntry | null)[],
  prune: boolean,
  idOf: (name: string) => string | null | undefined,
): Promise<void> {
  const { tx, ctx } = applying
  const rows = await everyWindow(tx, ctx.workspaceId)
  const byName = Map.groupBy(rows, row => row.name)
  const names = new Set(entries.map(one => one?.name))
  for (const row of prune ? rows.filter(one => !names.has(one.name)) : [])
    await deleteWindow(
      applying.joining('delete', () => namedBy(row)),
      row.id,
    )
  const gathered = new Gathered()
  for (const [place, entry] of entries.entries()) {
    if (entry === null) continue
    const at = (pointer: string) => `#/maintenance_windows/${place}${pointer.slice(1)}`
    try {
      const found = byName.get(entry.name) ?? []
      if (found.length > 1) throw refused('/name', 'ambiguous', 'is the name of several maintenance windows.')
      if (entries.findIndex(one => one?.name === entry.name) < place)
        throw refused('/name', 'not_unique', 'stands for what another entry of the document is.')
      const read = gathered.of(() => targetsOf(entry, idOf), at)
      // What it is for is wrong, or was not made: the rest of it is looked at.
      const targets = read && isMade(read) ? read : { ...noTargets, all: true }
      if (found.length === 0) await createWindow(applying.joining('create', namedBy), { ...entry, targets })
      else await updateWindow(applying.joining('update', namedBy), found[0]!.id, { ...fresh, ...entry, targets })
    } catch (error) {
      gathered.take(error, at)
      if (gathered.problems.length >= mostProblems) break
    }
  }
  gathered.refuse()
}

/** Whether it is for something; monitors that were not made are left out, and told of where they are wrong. */
const isMade = ({ all, ...lists }: Targets): boolean => all || Object.values(lists).some(list => list.length > 0)

// What a new one has where an entry says nothing.
const fresh = { description: null, starts_at_local: null, rrule: null, cron: null, exdates: null }

const namedBy = (of: unknown) => {
  const { id, name } = of as Pick<MaintenanceWindowView, 'id' | 'name'>
  return { kind: 'maintenance_window' as const, id, key: null, name }
}

const refused = (pointer: string, code: string, detail: string) => invalid([{ pointer: `#${pointer}`, code, detail }])

function targetsOf({ targets }: WindowEntry, idOf: (name: string) => string | null | undefined): Targets {
  const problems: FieldProblem[] = []
  const ids = (member: 'monitors' | 'groups') =>
    (targets[member] ?? []).flatMap((name, place) => {
      const id = idOf(name)
      if (id !== null) return id === undefined ? [] : [id]
      const pointer = `#/targets/${member}/${place}`
      problems.push({ pointer, code: 'unknown', detail: 'is none of the document or the workspace.' })
      return []
    })
  const read = { ...noTargets, ...targets, monitors: ids('monitors'), groups: ids('groups') }
  if (problems.length > 0) throw invalid(problems)
  return read
}
