import { refuseOverLimit } from '../../access/plans'
import { target } from '../../core/audit'
import type { AuditAction } from '../../core/audit-actions'
import { change } from '../../core/change'
import { nextNumber } from '../../core/counters'
import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import { listingOf, listPage } from '../../core/list'
import { searchFilter, textFilter, timeFilters } from '../../core/list-filters'
import { inputColumns, memberView, patchColumns } from '../../core/members'
import { invalid } from '../../core/problem'
import { changedRow, findRow, insertRow, lockRow, removeRow, saveRow } from '../../core/rows'
import { Words, type Page } from '../../core/shapes'
import { rowsOf } from '../../registry'
import { refreshCalendar } from './calendar'
import { calendarCounter } from './calendar-counter'
import { parseTiming } from './parse-timing'
import {
  windowKinds,
  windowMembers,
  type MaintenanceStartInput,
  type MaintenanceWindowInput,
  type MaintenanceWindowPatch,
  type MaintenanceWindowView,
} from './shapes'
import { maintenanceWindows } from './tables'
import { noTargets, type Targets } from './targets'
import { currentOccurrence, windowView, type WindowRow } from './view'

export const windowRows = rowsOf('maintenance_window', maintenanceWindows)

export const windowListing = listingOf('maintenance-windows', maintenanceWindows, {
  isSmall: true,
  filters: {
    kind: {
      ...textFilter(maintenanceWindows.kind, 'Only windows of this kind.'),
      schema: Words(windowKinds, { description: 'Only windows of this kind.' }),
    },
    q: searchFilter([maintenanceWindows.name], 'Only windows whose name contains all words of this text.'),
    ...timeFilters('created_at', maintenanceWindows.createdAt),
  },
  sorts: ['name', 'created_at', 'updated_at'],
})

export const listWindows = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<MaintenanceWindowView>> =>
  listPage(ctx, windowListing, query, row => windowView(row, ctx.hub.clock.now()))

/** @throws Problem 404 */
export const getWindow = async (ctx: Ctx, id: string): Promise<MaintenanceWindowView> =>
  windowView(await findRow(ctx.hub.read, ctx, windowRows, id), ctx.hub.clock.now())

/** @throws Problem 409 if the workspace has reached the limit, 422 */
export function createWindow(ctx: Ctx, input: MaintenanceWindowInput): Promise<MaintenanceWindowView> {
  const columns = inputColumns(windowMembers, { ...input, targets: noTargets })
  const timing = requireTiming(memberView(windowMembers, columns))
  const targets = mergeTargets(noTargets, input.targets)
  return write(ctx, 'maintenance.window.create', async tx => {
    await refuseOverLimit(tx, ctx, 'maintenance_window')
    return { before: null, after: await insertRow(tx, ctx, windowRows, { ...columns, ...timing, targets, ...neverStarted }) }
  })
}

const neverStarted = { startedAt: null, startedUntil: null, stoppedAt: null }

/** @throws Problem 404, 412, 422 */
export const updateWindow = (ctx: Ctx, id: string, patch: MaintenanceWindowPatch): Promise<MaintenanceWindowView> =>
  edit(ctx, 'maintenance.window.update', id, row => {
    const kind = patch.kind ?? row.kind
    // A change of the kind drops the fields of the old kind.
    const dropped = {
      ...(kind !== 'rrule' && { rrule: null }),
      ...(kind !== 'cron' && { cron: null }),
      ...(kind === 'once' && { exdates: [] }),
    }
    const columns = { ...dropped, ...patchColumns(windowMembers, { ...patch, targets: undefined }) }
    const timing = requireTiming(memberView(windowMembers, { ...row, ...columns }))
    return { ...columns, ...timing, targets: mergeTargets(row.targets, patch.targets ?? {}) }
  })

/** @throws Problem 404, 412 */
export async function deleteWindow(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, 'maintenance.window.delete', async tx => {
    const row = await lockRow(tx, ctx, windowRows, id)
    await removeRow(tx, windowRows, row)
    await nextNumber(tx, calendarCounter)
    return { result: undefined, target: target('maintenance_window', row), before: windowView(row, ctx.hub.clock.now()) }
  })
  if (!ctx.join) await refreshCalendar(ctx.hub)
}

/**
 * Starts maintenance now, in addition to the schedule. Restarts it if it was already started manually.
 * @param input duration; defaults to the duration of the occurrences
 * @throws Problem 404, 412
 */
export const startWindow = (ctx: Ctx, id: string, input: MaintenanceStartInput): Promise<MaintenanceWindowView> =>
  edit(ctx, 'maintenance.window.start', id, row => {
    const now = ctx.hub.clock.now()
    return { startedAt: now, startedUntil: now + (input.duration_seconds ?? row.durationSeconds) * 1000 }
  })

/** Ends the active occurrences. Later ones are not affected. Does nothing if none is active. @throws Problem 404, 412 */
export const stopWindow = (ctx: Ctx, id: string): Promise<MaintenanceWindowView> =>
  edit(ctx, 'maintenance.window.stop', id, row => {
    const now = ctx.hub.clock.now()
    if (currentOccurrence(row, now) === null) return {}
    const isStartedManually = row.startedUntil !== null && row.startedUntil > now
    return { stoppedAt: now, ...(isStartedManually && { startedUntil: now }) }
  })

function edit(
  ctx: Ctx,
  action: AuditAction,
  id: string,
  decide: (row: WindowRow) => Partial<WindowRow>,
): Promise<MaintenanceWindowView> {
  return write(ctx, action, async tx => {
    const before = await lockRow(tx, ctx, windowRows, id)
    return { before, after: await saveRow(tx, ctx, windowRows, before, decide(before)) }
  })
}

async function write(
  ctx: Ctx,
  action: AuditAction,
  fn: (tx: Tx) => Promise<{ before: WindowRow | null; after: WindowRow }>,
): Promise<MaintenanceWindowView> {
  const view = await change(ctx, action, async tx => {
    const { before, after } = await fn(tx)
    if (before !== after) await nextNumber(tx, calendarCounter)
    return await changedRow(windowRows, before, after, row => windowView(row, ctx.hub.clock.now()))
  })
  // In a bulk request the change is not committed yet; the calendar is then refreshed within a second.
  if (!ctx.join) await refreshCalendar(ctx.hub)
  return view
}

function requireTiming(input: Parameters<typeof parseTiming>[0]) {
  const parsed = parseTiming(input)
  if ('problems' in parsed) throw invalid(parsed.problems)
  return parsed.timing
}

function mergeTargets(before: Targets, patch: Partial<Targets>): Targets {
  const targets = { ...before, ...patch }
  const { all, ...lists } = targets
  if (!all && Object.values(lists).every(list => list.length === 0))
    throw invalid([{ pointer: '#/targets', code: 'required', detail: 'must not be empty. Add a target or set `all` to true.' }])
  return targets
}
