import { invalid, type FieldProblem } from '../../../core/problem'
import { allWindows } from '../../maintenance/all-windows'
import type { MaintenanceWindowView } from '../../maintenance/shapes'
import { noTargets, type Targets } from '../../maintenance/targets'
import type { WindowRow } from '../../maintenance/view'
import { createWindow, deleteWindow, updateWindow } from '../../maintenance/windows'
import type { ImportRun } from './import-run'
import { ProblemCollector } from './problem-collector'
import type { WindowEntry } from './shapes'

const maxProblems = 20

/** A maintenance window as an entry of a document; null if it no longer has any targets. @param keys keys of monitors by id */
export function windowEntry(row: WindowRow, keys: ReadonlyMap<string, string>): WindowEntry | null {
  const named = (ids: readonly string[]) => ids.flatMap(id => keys.get(id) ?? [])
  const { targets } = row
  const lists = {
    monitors: named(targets.monitors),
    groups: named(targets.groups),
    heartbeats: targets.heartbeats,
    tags: targets.tags,
  }
  const targetLists = Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0))
  if (!targets.all && Object.keys(targetLists).length === 0) return null
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
    targets: { ...(targets.all && { all: true }), ...targetLists },
  }
}

/**
 * Applies the maintenance windows of a document. They are matched by name.
 * @param entries null for an entry that could not be parsed
 * @param idOf returns the id of a monitor by its name in the document
 * @throws Problem 422 for each invalid entry, 409 if there would be too many
 */
export async function importWindows(
  run: ImportRun,
  entries: readonly (WindowEntry | null)[],
  prune: boolean,
  idOf: (name: string) => string | null | undefined,
): Promise<void> {
  const { tx, ctx } = run
  const rows = await allWindows(tx, ctx.workspaceId)
  const byName = Map.groupBy(rows, row => row.name)
  const names = new Set(entries.map(one => one?.name))
  for (const row of prune ? rows.filter(one => !names.has(one.name)) : [])
    await deleteWindow(
      run.contextFor('delete', () => namedBy(row)),
      row.id,
    )
  const collector = new ProblemCollector()
  for (const [place, entry] of entries.entries()) {
    if (entry === null) continue
    const at = (pointer: string) => `#/maintenance_windows/${place}${pointer.slice(1)}`
    try {
      const found = byName.get(entry.name) ?? []
      if (found.length > 1) throw refused('/name', 'ambiguous', 'matches more than one maintenance window.')
      if (entries.findIndex(one => one?.name === entry.name) < place)
        throw refused('/name', 'not_unique', 'refers to the same maintenance window as another entry of the document.')
      const read = collector.run(() => targetsOf(entry, idOf), at)
      // The targets are invalid or were not created. Validate the rest of the entry anyway.
      const targets = read && hasTargets(read) ? read : { ...noTargets, all: true }
      if (found.length === 0) await createWindow(run.contextFor('create', namedBy), { ...entry, targets })
      else await updateWindow(run.contextFor('update', namedBy), found[0]!.id, { ...fresh, ...entry, targets })
    } catch (error) {
      collector.addFrom(error, at)
      if (collector.problems.length >= maxProblems) break
    }
  }
  collector.throwIfAny()
}

/** Monitors that were not created are missing here; they are reported at their own entries. */
const hasTargets = ({ all, ...lists }: Targets): boolean => all || Object.values(lists).some(list => list.length > 0)

// Defaults for fields an entry omits.
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
      problems.push({ pointer, code: 'unknown', detail: 'is neither in the document nor in the workspace.' })
      return []
    })
  const read = { ...noTargets, ...targets, monitors: ids('monitors'), groups: ids('groups') }
  if (problems.length > 0) throw invalid(problems)
  return read
}
