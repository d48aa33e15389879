import { and, asc, eq, gt } from 'drizzle-orm'
import { lockLimit } from '../../../access/plans'
import { target } from '../../../core/audit'
import { change } from '../../../core/change'
import type { ChangeResult } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import { forUpdate } from '../../../core/db/dialect'
import { rowsInBatches } from '../../../core/db/rows-in-batches'
import type { Tx } from '../../../core/db/transaction'
import { invalid, Problem, type FieldProblem } from '../../../core/problem'
import { lockRow } from '../../../core/rows'
import { withValues, type Settings } from '../../../core/sealed-settings'
import { refreshCalendar } from '../../maintenance/calendar'
import { channelNames } from '../../notifications/channel-references'
import { definitionFrom } from '../definition/definition'
import { monitorTypeOf, type MonitorType } from '../definition/types'
import { insertMonitor, removeMonitor, rewriteMonitor } from '../monitors'
import { validatedOptions, openOptions, optionSecrets, refuseCarriedSecrets } from '../definition/options'
import type { MonitorInput } from '../shapes'
import { monitors } from '../tables'
import { parseTarget } from '../definition/parse-target'
import { below } from '../relations'
import { monitorRows, type MonitorRow } from '../view'
import { ImportRun } from './import-run'
import { entriesOf, type Entries, type Entry } from './entries'
import { ProblemCollector } from './problem-collector'
import { readDocument, type Readable } from './read-document'
import type { MonitoringChange, MonitoringImportResult } from './shapes'
import { importWindows } from './windows'

const maxProblems = 20

/**
 * Applies a document as one change, all or nothing. Each monitor that is created, updated, or deleted gets its own audit event.
 * `dry_run` rolls everything back; `prune` deletes what is not in the document.
 * @throws Problem 422 with line, column, and field of each error, 403 `plan_limit_reached`
 */
export async function importMonitoring(
  ctx: Ctx,
  sent: { bytes: Uint8Array; mediaType: string },
  { dry_run = false, prune = false }: { dry_run?: boolean; prune?: boolean },
): Promise<MonitoringImportResult> {
  const { value, problems, located } = await readDocument(sent.bytes, sent.mediaType)
  try {
    const result = await change(ctx, 'monitor.import', async tx => {
      const run = new ImportRun(tx, ctx)
      await apply(run, value, problems, prune)
      const imported = resultOf(run, value, dry_run)
      if (dry_run) throw new DryRunRollback(imported)
      return { result: imported, target: target('workspace', { id: ctx.workspaceId }), ...run.drafts }
    })
    if (result.changes.some(one => one.kind === 'maintenance_window')) await refreshCalendar(ctx.hub)
    return result
  } catch (error) {
    if (error instanceof DryRunRollback) return error.result
    if (error instanceof Problem && error.extras.errors) throw invalid(await located(error.extras.errors))
    throw error
  }
}

/** Thrown to roll back the change of a dry run. Carries its result. */
class DryRunRollback extends Error {
  constructor(readonly result: MonitoringImportResult) {
    super('Dry run.')
  }
}

async function apply(run: ImportRun, document: Readable, wrong: readonly FieldProblem[], prune: boolean): Promise<void> {
  const { tx, ctx } = run
  await lockLimit(tx, 'monitors', ctx.workspaceId)
  const rows = await rowsInBatches<MonitorRow>((after, max) =>
    forUpdate(
      tx
        .select()
        .from(monitors)
        .where(and(eq(monitors.workspaceId, ctx.workspaceId), gt(monitors.id, after)))
        .orderBy(asc(monitors.id))
        .limit(max),
    ),
  )
  const entries = entriesOf(document.monitors, rows)
  const channels = new Map([...(await channelNames(tx, ctx.workspaceId))].map(([id, name]) => [name, id]))
  const take = (op: MonitoringChange['op'], { id, key, name }: Named, part: ChangeResult<unknown>) =>
    run.record(op, { kind: 'monitor', id, key, name }, `monitor.${op}`, part)
  // Delete first, so that deleted monitors don't count toward the limit of the plan.
  const matched = new Set(entries.list.flatMap(one => one.row?.id ?? []))
  const referenced = new Set(rows.flatMap(below))
  const touched = new Set<string>()
  for (const row of prune ? rows.filter(one => !matched.has(one.id)) : []) {
    const part = await removeMonitor(tx, ctx, row, referenced.has(row.id))
    take('delete', row, part)
    for (const one of [part.target].flat()) touched.add(one.id)
  }
  const collector = new ProblemCollector()
  collector.add(wrong)
  collector.add(entries.problems)
  const { failed } = entries
  for (const entry of entries.list) {
    // It refers to an invalid entry, which is already reported.
    if (entry.below.some(one => failed.has(one))) failed.add(entry)
    const isWrong = wrong.some(one => one.pointer.startsWith(`#/monitors/${entry.place}/`))
    if (isWrong) failed.add(entry)
    try {
      const row =
        entry.row && touched.has(entry.row.id)
          ? await lockRow(tx, { ...ctx, ifMatch: null }, monitorRows, entry.row.id)
          : entry.row
      const scope = { entries, channels, secrets: document.secrets ?? {} }
      const applyEntry = await prepareEntry(tx, ctx, { ...entry, row }, scope)
      if (failed.has(entry)) continue
      const part = await applyEntry()
      entry.id = part.result.id
      take(entry.row ? 'update' : 'create', part.result, part)
    } catch (error) {
      failed.add(entry)
      collector.addFrom(error, pointer => `#/monitors/${entry.place}${pointer.slice(1)}`)
      if (collector.problems.length >= maxProblems) break
    }
  }
  const windows = document.maintenance_windows
  try {
    if (windows) await importWindows(run, windows, prune, name => entries.idOf(name))
  } catch (error) {
    collector.addFrom(error)
  }
  collector.throwIfAny(maxProblems)
}

type Named = Pick<MonitorRow, 'id' | 'key' | 'name'>

/** What entries can refer to. */
interface ImportScope {
  entries: Entries
  /** Channel ids by name. */
  channels: ReadonlyMap<string, string>
  secrets: Record<string, string>
}

/** Validates an entry and returns a function that creates or updates its monitor. @throws Problem 422 with all errors of the entry */
async function prepareEntry(tx: Tx, ctx: Ctx, { item, row }: Entry, { entries, channels, secrets }: ImportScope) {
  const collector = new ProblemCollector()
  const { channels: channelNamesInput, ...members } = item
  const dependsOn = collector.run(() => item.depends_on && idsOf(item.depends_on, '#/depends_on', name => entries.idOf(name)))
  const channelIds = collector.run(
    () => channelNamesInput && idsOf(channelNamesInput, '#/channels', name => channels.get(name) ?? null),
  )
  const read = collector.run(() => parseTarget(item))
  if (read && row && read.type !== row.type)
    collector.add([
      {
        pointer: '#/type',
        code: 'conflict',
        detail: `can’t be changed; the monitor is of type ${row.type}. Delete it, or use a different key.`,
      },
    ])
  if (!read || (row && read.type !== row.type)) throw invalid(collector.problems)
  const { target: inputTarget, name } = read
  const type = monitorTypeOf(read.type)
  const full: MonitorInput = {
    ...members,
    // An entry matched by id has the id in place of a key.
    key: row && item.key === row.id ? row.key : (item.key ?? row?.key ?? null),
    ...(dependsOn && { depends_on: dependsOn }),
    ...(channelIds && { channel_ids: channelIds }),
  }
  const inputOptions = type.name === 'group' ? withMembers(item.options ?? {}, entries, collector) : (item.options ?? {})
  const current = { target: row?.target ?? '', options: row ? await openOptions(ctx.hub, row, tx) : {} }
  const filled = collector.run(() => withSecrets(type, inputOptions, row ? optionSecrets(type, current.options) : {}, secrets))
  const next = collector.run(() => validatedOptions(type, inputTarget, filled?.options ?? inputOptions))
  if (row && next && filled) collector.run(() => refuseCarriedSecrets(type, current, next, filled.carried))
  const definition = collector.run(() => definitionFrom(ctx, type, full, null, row))
  if (collector.problems.length > 0 || !next || !definition) throw invalid(collector.problems)
  return async () =>
    row
      ? await rewriteMonitor(tx, ctx, row, { type, current, next, definition, name })
      : await insertMonitor(tx, ctx, { type, next, definition, name })
}

/** @param idOf returns undefined for an entry that was not created, which is reported there */
function idsOf(names: readonly string[], pointer: string, idOf: (name: string) => string | null | undefined): string[] {
  const problems: FieldProblem[] = []
  const ids = names.flatMap((name, place) => {
    const id = idOf(name)
    if (id !== null) return id === undefined ? [] : [id]
    problems.push({ pointer: `${pointer}/${place}`, code: 'unknown', detail: 'is neither in the document nor in the workspace.' })
    return []
  })
  if (problems.length > 0) throw invalid(problems)
  return ids
}

/** Replaces the names of members with ids. Unknown names are collected as problems. */
function withMembers(options: Settings, entries: Entries, collector: ProblemCollector): Settings {
  const { members } = options
  if (!Array.isArray(members) || !members.every(one => typeof one === 'string')) return options
  const ids = collector.run(() => idsOf(members, '#/options/members', name => entries.idOf(name)))
  return { ...options, members: ids ?? [] }
}

const placeholder = /^\$\{secret:([^}]{1,300})\}$/

/**
 * Replaces `${secret:NAME}` with values from the document, or else with the secret the monitor already has at that path.
 * @returns carried: paths of the secrets taken from the monitor
 */
function withSecrets(
  type: MonitorType,
  inputOptions: Settings,
  current: Settings,
  secrets: Record<string, string>,
): { options: Settings; carried: string[] } {
  const values: Settings = {}
  const carried: string[] = []
  const problems: FieldProblem[] = []
  for (const [path, value] of Object.entries(optionSecrets(type, inputOptions))) {
    const name = typeof value === 'string' ? placeholder.exec(value)?.[1] : undefined
    if (name === undefined) continue
    if (Object.hasOwn(secrets, name)) values[path] = secrets[name]
    else if (Object.hasOwn(current, path)) {
      values[path] = current[path]
      carried.push(path)
    } else
      problems.push({
        pointer: `#/options/${path}`,
        code: 'required',
        detail: `refers to the secret ${name}, which is neither in \`secrets\` of the document nor set on the monitor.`,
      })
  }
  if (problems.length > 0) throw invalid(problems)
  return { options: withValues(inputOptions, values), carried }
}

function resultOf({ changes }: ImportRun, document: Readable, dryRun: boolean): MonitoringImportResult {
  const of = (op: MonitoringChange['op']) => changes.filter(one => one.op === op).length
  const named = document.monitors.length + (document.maintenance_windows?.length ?? 0)
  return {
    dry_run: dryRun,
    created: of('create'),
    updated: of('update'),
    deleted: of('delete'),
    unchanged: named - of('create') - of('update'),
    // A monitor that was not created has no id.
    changes: dryRun ? changes.map(one => (one.op === 'create' ? { ...one, id: null } : one)) : changes,
  }
}
