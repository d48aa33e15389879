import { eq } from 'drizzle-orm'
import { takeTurns } from '../../../access/plans'
import { target } from '../../../core/audit'
import { change, type Changed } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { locking } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import { invalid, Problem, type FieldProblem } from '../../../core/problem'
import { filledIn, type Settings } from '../../../core/sealed-settings'
import { readCalendar } from '../../maintenance/calendar'
import { channelNames } from '../../notifications/known-channels'
import { defined } from '../definition'
import { monitorTypeOf, type MonitorType } from '../monitor-types'
import { made, monitorHeld, removed, rewritten } from '../monitors'
import { checkedOptions, openOptions, optionSecrets, refuseCarried } from '../options'
import type { MonitorInput } from '../shapes'
import { monitors } from '../tables'
import { understood } from '../understood'
import type { MonitorRow } from '../view'
import { Applying } from './applying'
import { entriesOf, type Entries, type Entry } from './entries'
import { Gathered } from './gathered'
import { readDocument, type Readable } from './read-document'
import type { MonitoringChange, MonitoringImported } from './shapes'
import { bringWindows } from './windows'

const mostProblems = 20

/**
 * Makes what is watched what a document says, as one change: all of it or nothing. Each monitor that it makes, edits or deletes has an
 * audit entry of its own.
 * @param asked `dry_run` undoes everything; `prune` deletes what the document does not have
 * @throws Problem 422 with line, column and member of all that is wrong, 403 `plan_limit_reached`
 */
export async function importMonitoring(
  ctx: Ctx,
  sent: { bytes: Uint8Array; mediaType: string },
  { dry_run = false, prune = false }: { dry_run?: boolean; prune?: boolean },
): Promise<MonitoringImported> {
  const { value, problems, located } = readDocument(sent.bytes, sent.mediaType)
  try {
    const result = await change(ctx, 'monitor.import', async tx => {
      const applying = new Applying(tx, ctx)
      await apply(applying, value, problems, prune)
      const imported = toldOf(applying, value, dry_run)
      if (dry_run) throw new Undone(imported)
      return { result: imported, target: target('workspace', { id: ctx.workspaceId }), ...applying.drafts }
    })
    if (result.changes.some(one => one.kind === 'maintenance_window')) await readCalendar(ctx.hub)
    return result
  } catch (error) {
    if (error instanceof Undone) return error.result
    if (error instanceof Problem && error.extras.errors) throw invalid(error.extras.errors.map(located))
    throw error
  }
}

/** Thrown out of a change to undo it, with what it would have come to. */
class Undone extends Error {
  constructor(readonly result: MonitoringImported) {
    super('Nothing was to be done.')
  }
}

async function apply(applying: Applying, document: Readable, wrong: readonly FieldProblem[], prune: boolean): Promise<void> {
  const { tx, ctx } = applying
  await takeTurns(tx, 'monitors', ctx.workspaceId)
  const rows = await locking(tx.select().from(monitors).where(eq(monitors.workspaceId, ctx.workspaceId)))
  const entries = entriesOf(document.monitors, rows)
  const channels = new Map([...(await channelNames(tx, ctx.workspaceId))].map(([id, name]) => [name, id]))
  const take = (op: MonitoringChange['op'], { id, key, name }: Named, part: Changed<unknown>) =>
    applying.take(op, { kind: 'monitor', id, key, name }, `monitor.${op}`, part)
  // First, so that what is made has their place under the plan.
  const kept = new Set(entries.list.flatMap(one => one.row?.id ?? []))
  const touched = new Set<string>()
  for (const row of prune ? rows.filter(one => !kept.has(one.id)) : []) {
    const part = await removed(tx, ctx, row)
    take('delete', row, part)
    for (const one of [part.target].flat()) touched.add(one.id)
  }
  const gathered = new Gathered()
  gathered.add(wrong)
  gathered.add(entries.problems)
  const { failed } = entries
  for (const entry of entries.list) {
    // What it names is wrong, and told already.
    if (entry.below.some(one => failed.has(one))) failed.add(entry)
    const isWrong = wrong.some(one => one.pointer.startsWith(`#/monitors/${entry.place}/`))
    if (isWrong) failed.add(entry)
    try {
      const row = entry.row && touched.has(entry.row.id) ? await monitorHeld(tx, ctx, entry.row.id) : entry.row
      const around = { entries, channels, secrets: document.secrets ?? {} }
      const bring = await brought(tx, ctx, { ...entry, row }, around)
      if (failed.has(entry)) continue
      const part = await bring()
      entry.id = part.result.id
      take(entry.row ? 'update' : 'create', part.result, part)
    } catch (error) {
      failed.add(entry)
      gathered.take(error, pointer => `#/monitors/${entry.place}${pointer.slice(1)}`)
      if (gathered.problems.length >= mostProblems) break
    }
  }
  const windows = document.maintenance_windows
  try {
    if (windows) await bringWindows(applying, windows, prune, name => entries.idOf(name))
  } catch (error) {
    gathered.take(error)
  }
  gathered.refuse(mostProblems)
}

type Named = Pick<MonitorRow, 'id' | 'key' | 'name'>

/** What entries may name. */
interface Around {
  entries: Entries
  /** Ids of channels by name. */
  channels: ReadonlyMap<string, string>
  secrets: Record<string, string>
}

/** What makes or edits the monitor of an entry. @throws Problem 422 with all that is wrong below the entry */
async function brought(tx: Tx, ctx: Ctx, { item, row }: Entry, { entries, channels, secrets }: Around) {
  const gathered = new Gathered()
  const { channels: told, ...members } = item
  const dependsOn = gathered.of(() => item.depends_on && idsOf(item.depends_on, '#/depends_on', name => entries.idOf(name)))
  const channelIds = gathered.of(() => told && idsOf(told, '#/channels', name => channels.get(name) ?? null))
  const read = gathered.of(() => understood(item))
  if (read && row && read.type !== row.type)
    gathered.add([
      { pointer: '#/type', code: 'conflict', detail: `is ${row.type} and stays so: delete the monitor, or give another key.` },
    ])
  if (!read || (row && read.type !== row.type)) throw invalid(gathered.problems)
  const { target: targetGiven, name } = read
  const type = monitorTypeOf(read.type)
  const full: MonitorInput = {
    ...members,
    // Found by its id, it has no key that could be told.
    key: row && item.key === row.id ? row.key : (item.key ?? row?.key ?? null),
    ...(dependsOn && { depends_on: dependsOn }),
    ...(channelIds && { channel_ids: channelIds }),
  }
  const given = type.name === 'group' ? withMembers(item.options ?? {}, entries, gathered) : (item.options ?? {})
  const kept = { target: row?.target ?? '', options: row ? await openOptions(ctx.hub, row, tx) : {} }
  const filled = gathered.of(() => withSecrets(type, given, row ? optionSecrets(type, kept.options) : {}, secrets))
  const asked = gathered.of(() => checkedOptions(type, targetGiven, filled?.options ?? given))
  if (row && asked && filled) gathered.of(() => refuseCarried(type, kept, asked, filled.carried))
  const definition = gathered.of(() => defined(ctx, type, full, null, row))
  if (gathered.problems.length > 0 || !asked || !definition) throw invalid(gathered.problems)
  return async () =>
    row
      ? await rewritten(tx, ctx, row, { type, kept, asked, definition, name })
      : await made(tx, ctx, { type, asked, definition, name })
}

/** @param idOf undefined for an entry that was not made, which is told there */
function idsOf(names: readonly string[], pointer: string, idOf: (name: string) => string | null | undefined): string[] {
  const problems: FieldProblem[] = []
  const ids = names.flatMap((name, place) => {
    const id = idOf(name)
    if (id !== null) return id === undefined ? [] : [id]
    problems.push({ pointer: `${pointer}/${place}`, code: 'unknown', detail: 'is none of the document or the workspace.' })
    return []
  })
  if (problems.length > 0) throw invalid(problems)
  return ids
}

/** Members by their ids. What stands for none is taken as a problem. */
function withMembers(options: Settings, entries: Entries, gathered: Gathered): Settings {
  const { members } = options
  if (!Array.isArray(members) || !members.every(one => typeof one === 'string')) return options
  const ids = gathered.of(() => idsOf(members, '#/options/members', name => entries.idOf(name)))
  return { ...options, members: ids ?? [] }
}

const placeholder = /^\$\{secret:([^}]{1,300})\}$/

/**
 * Options with the values that `${secret:NAME}` stands for: of the document, or else what the monitor has in that place.
 * @returns carried paths of those that come from the monitor
 */
function withSecrets(
  type: MonitorType,
  given: Settings,
  kept: Settings,
  secrets: Record<string, string>,
): { options: Settings; carried: string[] } {
  const values: Settings = {}
  const carried: string[] = []
  const problems: FieldProblem[] = []
  for (const [path, value] of Object.entries(optionSecrets(type, given))) {
    const name = typeof value === 'string' ? placeholder.exec(value)?.[1] : undefined
    if (name === undefined) continue
    if (Object.hasOwn(secrets, name)) values[path] = secrets[name]
    else if (Object.hasOwn(kept, path)) {
      values[path] = kept[path]
      carried.push(path)
    } else
      problems.push({
        pointer: `#/options/${path}`,
        code: 'required',
        detail: `stands for a secret that neither the document names under \`secrets\`, as ${name}, nor the monitor has.`,
      })
  }
  if (problems.length > 0) throw invalid(problems)
  return { options: filledIn(given, values), carried }
}

function toldOf({ changes }: Applying, document: Readable, dryRun: boolean): MonitoringImported {
  const of = (op: MonitoringChange['op']) => changes.filter(one => one.op === op).length
  const named = document.monitors.length + (document.maintenance_windows?.length ?? 0)
  return {
    dry_run: dryRun,
    created: of('create'),
    updated: of('update'),
    deleted: of('delete'),
    unchanged: named - of('create') - of('update'),
    // The id of what was not made leads nowhere.
    changes: dryRun ? changes.map(one => (one.op === 'create' ? { ...one, id: null } : one)) : changes,
  }
}
